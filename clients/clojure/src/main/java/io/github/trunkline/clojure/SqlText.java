package io.github.trunkline.clojure;

/**
 * Finds the parts of a text that are not SQL themselves: strings, quoted names, comments and dollar quotes. Follows the manual's
 * chapter "Lexical Structure", with standard_conforming_strings on.
 */
public final class SqlText {
    private SqlText() {}

    /** The end of the string, quoted name, comment, dollar quote or single character that begins at {@code at}. */
    static int end(String sql, int at) {
        return switch (sql.charAt(at)) {
            case '\'' -> quoted(sql, at, '\'', isEscapeString(sql, at));
            case '"' -> quoted(sql, at, '"', false);
            case '-' -> sql.startsWith("--", at) ? lineComment(sql, at) : at + 1;
            case '/' -> sql.startsWith("/*", at) ? blockComment(sql, at) : at + 1;
            case '$' -> dollarQuote(sql, at);
            default -> at + 1;
        };
    }

    /** True if the text's SQL contains a word, in upper or lower case. */
    public static boolean hasWord(String sql, String word) {
        for (int at = 0; at < sql.length(); at = end(sql, at)) {
            boolean begins = at == 0 || !isNamePart(sql.charAt(at - 1));
            int after = at + word.length();
            if (begins && sql.regionMatches(true, at, word, 0, word.length())
                    && (after == sql.length() || !isNamePart(sql.charAt(after)))) {
                return true;
            }
        }
        return false;
    }

    /** The text's first word in lower case; empty if it has none. */
    public static String firstWord(String sql) {
        for (int at = 0; at < sql.length(); at = end(sql, at)) {
            if (Character.isLetter(sql.charAt(at))) {
                int end = at;
                while (end < sql.length() && isNamePart(sql.charAt(end))) {
                    end++;
                }
                return sql.substring(at, end).toLowerCase(java.util.Locale.ROOT);
            }
        }
        return "";
    }

    /** The text without the semicolons, spaces and comments behind its last statement. */
    public static String trimmed(String sql) {
        int last = 0;
        for (int at = 0; at < sql.length();) {
            int end = end(sql, at);
            if (!isNothing(sql, at)) {
                last = end;
            }
            at = end;
        }
        return sql.substring(0, last);
    }

    /** True if more SQL follows a semicolon, so that the text has several statements. */
    public static boolean hasSeveral(String sql) {
        boolean ended = false;
        boolean begun = false;
        for (int at = 0; at < sql.length(); at = end(sql, at)) {
            boolean nothing = isNothing(sql, at);
            if (ended && !nothing) {
                return true;
            }
            begun |= !nothing;
            ended |= begun && sql.charAt(at) == ';';
        }
        return false;
    }

    private static boolean isNothing(String sql, int at) {
        return sql.charAt(at) == ';' || Character.isWhitespace(sql.charAt(at)) || sql.startsWith("--", at)
                || sql.startsWith("/*", at);
    }

    static boolean isNamePart(char c) {
        return c == '_' || c == '$' || c >= 0x80 || Character.isLetterOrDigit(c);
    }

    /** E'...', where a backslash escapes; but not the end of a name that ends in e. */
    private static boolean isEscapeString(String sql, int at) {
        return at > 0 && Character.toLowerCase(sql.charAt(at - 1)) == 'e' && (at == 1 || !isNamePart(sql.charAt(at - 2)));
    }

    /** Where it ends. A doubled quote begins another at once, which comes to the same. */
    private static int quoted(String sql, int at, char quote, boolean escapes) {
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

    private static int lineComment(String sql, int at) {
        int end = sql.indexOf('\n', at);
        return end < 0 ? sql.length() : end;
    }

    /** They nest, as the standard says and PostgreSQL does. */
    private static int blockComment(String sql, int at) {
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
    private static int dollarQuote(String sql, int at) {
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
