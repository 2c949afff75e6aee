package io.github.trunkline.bench;

import java.util.List;

/** The queries that are measured, by name. */
final class Shapes {
    /** Of each query that reads many. */
    static final int ROWS = 50_000;
    /** Of the query of the pool's and the HTTP server's measures, which many threads send. */
    static final int FEW_ROWS = 100;

    private static final String NINE = "i::int8 as id, i::int4 as n, 'name ' || i as name, i % 2 = 0 as yes, "
            + "i / 7.0::float8 as ratio, (i || '.25')::numeric as price, "
            + "timestamptz '2024-01-01 00:00:00.123456+00' + i * interval '1.000001 second' as at, "
            + "date '2024-01-01' + i % 1000 as day, "
            + "('00000000-0000-0000-0000-' || lpad(i::text, 12, '0'))::uuid as key";

    private Shapes() {}

    static final String FEW = "select * from bench_few";

    /** What makes their tables, so that the server's own work at each query is small. */
    static String setup() {
        String series = " from generate_series(1, " + ROWS + ") i";
        var sixty = new StringBuilder();
        for (int i = 0; i < 60; i++) {
            sixty.append(i == 0 ? "" : ", ").append("timestamptz '2024-01-01 00:00:00.123456+00' + i * interval '1.000001 second' + ")
                    .append(i).append(" * interval '1 hour' as t").append(i);
        }
        return table("few", NINE + " from generate_series(1, " + FEW_ROWS + ") i")
                + table("one", "i::int8 as id" + series)
                + table("nine", NINE + series)
                + table("json", "i::int8 as id, jsonb_build_object('id', i, 'name', 'name ' || i, 'tags', "
                        + "jsonb_build_array('a', 'b', i)) as doc" + series)
                + table("sixty", sixty + series);
    }

    private static String table(String name, String select) {
        return "drop table if exists bench_" + name + "; create table bench_" + name + " as select " + select
                + "; analyze bench_" + name + ";\n";
    }

    static List<String> names() {
        return List.of("one", "nine", "json", "sixty");
    }

    static String sql(String name) {
        return "select * from bench_" + name;
    }
}
