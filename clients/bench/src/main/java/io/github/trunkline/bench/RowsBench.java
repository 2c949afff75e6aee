package io.github.trunkline.bench;

import io.github.trunkline.Connection;
import io.github.trunkline.bench.Measure.Figures;
import io.github.trunkline.bench.Measure.Way;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** 50,000 rows read in several ways: {@code RowsBench REPORT PORT ROUNDS [SHAPE...]}, without a shape all of them. */
public final class RowsBench {
    /** Of a block; sixty columns take ten times as long as nine. */
    private static final int RUNS = 5;
    private static final int RUNS_OF_SIXTY = 1;
    private static final int WARM_ROUNDS = 5;
    private static final int WARM_ROUNDS_OF_SIXTY = 2;

    private RowsBench() {}

    public static void main(String[] arguments) throws Exception {
        var report = new Report(arguments[0]);
        int port = Integer.parseInt(arguments[1]);
        int rounds = Integer.parseInt(arguments[2]);
        List<String> shapes = arguments.length > 3 ? Arrays.asList(arguments).subList(3, arguments.length)
                : Shapes.names();
        report.line(Measure.machine() + "; " + Shapes.ROWS + " rows, medians of " + rounds + " rounds");
        try (var setup = Connection.connect(Contenders.config(port))) {
            setup.script(Shapes.setup());
        }
        for (String shape : shapes) {
            try (var contenders = new Contenders(port, Shapes.sql(shape))) {
                boolean wide = shape.equals("sixty");
                write(report, shape, Measure.inTurns(chosen(contenders.ways()), wide ? RUNS_OF_SIXTY : RUNS,
                        wide ? WARM_ROUNDS_OF_SIXTY : WARM_ROUNDS, rounds));
            }
        }
        System.exit(0);
    }

    /** Those that WAYS, a regular expression, finds in their names, and the floors; all without it. */
    private static Map<String, Way> chosen(Map<String, Way> ways) {
        String wanted = System.getenv("WAYS");
        if (wanted != null) {
            var pattern = Pattern.compile("^(socket|slab)$|" + wanted);
            ways.keySet().removeIf(name -> !pattern.matcher(name).find());
        }
        return ways;
    }

    private static void write(Report report, String shape, Map<String, Figures> figures) {
        double socket = figures.get("socket").cpu();
        double slab = figures.get("slab").cpu();
        report.table(title(shape), "way", "CPU ms", "to socket", "to slab", "caller's CPU ms", "wall ms", "allocated MB",
                "kept MB");
        figures.forEach((way, f) -> {
            report.row(way, "%.2f", f.cpu(), f.cpu() / socket, f.cpu() / slab, f.threadCpu(), f.wall(), f.allocated(), f.retained());
            report.value("rows " + shape, way, f.cpu(), f.wall(), f.retained());
        });
    }

    private static String title(String shape) {
        return switch (shape) {
            case "one" -> "A single column (int8)";
            case "nine" -> "Nine columns (int8, int4, text, bool, float8, numeric, timestamptz, date, uuid)";
            case "json" -> "JSON (int8 and jsonb)";
            case "sixty" -> "Sixty timestamptz";
            default -> shape;
        };
    }
}
