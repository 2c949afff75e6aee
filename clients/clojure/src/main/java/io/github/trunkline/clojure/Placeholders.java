package io.github.trunkline.clojure;

/**
 * Replaces JDBC's {@code ?} by PostgreSQL's {@code $1}, {@code $2}, and {@code ??} by the operator {@code ?}. Does not touch
 * strings, quoted names, comments and dollar quotes.
 */
public final class Placeholders {
    private final String sql;
    private final StringBuilder out;
    private int count;
    private boolean numbered;

    private Placeholders(String sql) {
        this.sql = sql;
        this.out = new StringBuilder(sql.length() + 8);
        run();
    }

    /** The text with numbered parameters; the same text if it has no question mark. */
    public static String number(String sql) {
        return sql.indexOf('?') < 0 ? sql : new Placeholders(sql).out.toString();
    }

    /** The same, but a text with {@code $1} and the like stays as it is: its question marks are operators. */
    public static String numberUnlessNumbered(String sql) {
        if (sql.indexOf('?') < 0) {
            return sql;
        }
        var placeholders = new Placeholders(sql);
        return placeholders.numbered ? sql : placeholders.out.toString();
    }

    private void run() {
        for (int at = 0; at < sql.length();) {
            if (sql.startsWith("??", at)) {
                out.append('?');
                at += 2;
            } else if (sql.charAt(at) == '?') {
                out.append('$').append(++count);
                at++;
            } else {
                numbered |= isNumber(at);
                int end = SqlText.end(sql, at);
                out.append(sql, at, end);
                at = end;
            }
        }
    }

    private boolean isNumber(int at) {
        return sql.charAt(at) == '$' && at + 1 < sql.length() && Character.isDigit(sql.charAt(at + 1))
                && (at == 0 || !SqlText.isNamePart(sql.charAt(at - 1)));
    }
}
