package io.github.trunkline.clojure;

/**
 * JDBC's {@code ?} as PostgreSQL's {@code $1}, {@code $2}; {@code ??} is the operator {@code ?}. Texts, quoted names,
 * comments and dollar quotes are left alone.
 */
public final class Placeholders {
    private final String sql;
    private final StringBuilder out;
    private int at;
    private int count;

    private Placeholders(String sql) {
        this.sql = sql;
        this.out = new StringBuilder(sql.length() + 8);
    }

    /** The text with numbered parameters; the same text if it has no question mark. */
    public static String number(String sql) {
        return sql.indexOf('?') < 0 ? sql : new Placeholders(sql).run();
    }

    private String run() {
        while (at < sql.length()) {
            char c = sql.charAt(at);
            int end = switch (c) {
                case '\'' -> quoted('\'', isEscapeString());
                case '"' -> quoted('"', false);
                case '-' -> sql.startsWith("--", at) ? lineComment() : at + 1;
                case '/' -> sql.startsWith("/*", at) ? blockComment() : at + 1;
                case '$' -> dollarQuote();
                case '?' -> placeholder();
                default -> at + 1;
            };
            if (c != '?') {
                out.append(sql, at, end);
            }
            at = end;
        }
        return out.toString();
    }

    private int placeholder() {
        if (sql.startsWith("??", at)) {
            out.append('?');
            return at + 2;
        }
        out.append('$').append(++count);
        return at + 1;
    }

    /** E'...', where a backslash escapes; but not the end of a name that ends in e. */
    private boolean isEscapeString() {
        if (at == 0 || Character.toLowerCase(sql.charAt(at - 1)) != 'e') {
            return false;
        }
        return at == 1 || !isNamePart(sql.charAt(at - 2));
    }

    private static boolean isNamePart(char c) {
        return c == '_' || c == '$' || c >= 0x80 || Character.isLetterOrDigit(c);
    }

    /** Where it ends. A doubled quote begins another at once, which comes to the same. */
    private int quoted(char quote, boolean escapes) {
        for (int i = at + 1; i < sql.length(); i++) {
            char c = sql.charAt(i);
            if (c == '\\' && escapes) {
                i++;
            } else if (c == quote) {
                if (escapes && i + 1 < sql.length() && sql.charAt(i + 1) == quote) {
                    i++;
                } else {
                    return i + 1;
                }
            }
        }
        return sql.length();
    }

    private int lineComment() {
        int end = sql.indexOf('\n', at);
        return end < 0 ? sql.length() : end;
    }

    /** They nest, as the standard says and PostgreSQL does. */
    private int blockComment() {
        int depth = 0;
        int i = at;
        while (i < sql.length()) {
            if (sql.startsWith("/*", i)) {
                depth++;
                i += 2;
            } else if (sql.startsWith("*/", i)) {
                i += 2;
                if (--depth == 0) {
                    return i;
                }
            } else {
                i++;
            }
        }
        return sql.length();
    }

    /** $$...$$ or $tag$...$tag$; a $ inside of a name, or before a digit, is none. */
    private int dollarQuote() {
        if (at > 0 && isNamePart(sql.charAt(at - 1))) {
            return at + 1;
        }
        int tagEnd = at + 1;
        while (tagEnd < sql.length() && isNamePart(sql.charAt(tagEnd)) && sql.charAt(tagEnd) != '$') {
            tagEnd++;
        }
        boolean isTag = tagEnd < sql.length() && sql.charAt(tagEnd) == '$' && !Character.isDigit(sql.charAt(at + 1));
        if (!isTag) {
            return at + 1;
        }
        String tag = sql.substring(at, tagEnd + 1);
        int end = sql.indexOf(tag, tagEnd + 1);
        return end < 0 ? sql.length() : end + tag.length();
    }
}
