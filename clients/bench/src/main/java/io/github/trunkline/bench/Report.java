package io.github.trunkline.bench;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Locale;

/** Markdown tables on standard output, and the same figures for charts.py as lines of a file: bench, way, figures. */
final class Report {
    private final PrintStream out = System.out;
    private final Path values;

    /** @param values the file, which is added to */
    Report(String values) {
        this.values = Path.of(values);
    }

    void line(String text) {
        out.println(text);
    }

    void table(String title, String... columns) {
        out.println("\n### " + title + "\n\n| " + String.join(" | ", columns) + " |");
        out.println("|---" + "|---:".repeat(columns.length - 1) + "|");
    }

    void row(String name, String format, double... figures) {
        var line = new StringBuilder("| ").append(name);
        for (double figure : figures) {
            line.append(" | ").append(String.format(Locale.ROOT, format, figure));
        }
        out.println(line.append(" |"));
    }

    void value(String bench, String way, double... figures) {
        var line = new StringBuilder(bench).append('\t').append(way);
        for (double figure : figures) {
            line.append('\t').append(String.format(Locale.ROOT, "%.3f", figure));
        }
        try {
            Files.writeString(values, line.append('\n'), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
