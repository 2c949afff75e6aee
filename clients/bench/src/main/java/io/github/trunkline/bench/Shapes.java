package io.github.trunkline.bench;

import java.util.LinkedHashMap;
import java.util.Map;

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

    /** What makes a table of these rows, so that the server's own work is small. */
    static final String SETUP = "drop table if exists bench_nine; create table bench_nine as select " + NINE
            + " from generate_series(1, " + FEW_ROWS + ") i";

    static final String FEW = "select * from bench_nine";

    static Map<String, String> all() {
        var shapes = new LinkedHashMap<String, String>();
        String series = " from generate_series(1, " + ROWS + ") i";
        shapes.put("one", "select i::int8" + series);
        shapes.put("nine", "select " + NINE + series);
        shapes.put("json", "select i::int8 as id, jsonb_build_object('id', i, 'name', 'name ' || i, 'tags', "
                + "jsonb_build_array('a', 'b', i)) as doc" + series);
        var sixty = new StringBuilder("select ");
        for (int i = 0; i < 60; i++) {
            sixty.append(i == 0 ? "" : ", ").append("timestamptz '2024-01-01 00:00:00.123456+00' + i * interval '1.000001 second' + ")
                    .append(i).append(" * interval '1 hour' as t").append(i);
        }
        shapes.put("sixty", sixty + series);
        return shapes;
    }
}
