package io.github.trunkline.type;

/** Steps through the text formats of arrays, ranges, records and hstore: words with quotes and backslashes. */
final class TextParser {
    private final String type;
    private final String text;
    private int at;

    TextParser(String type, String text, int at) {
        this.type = type;
        this.text = text;
        this.at = at;
    }

    /** The character that comes next, or zero at the end. */
    char peek() {
        return at < text.length() ? text.charAt(at) : 0;
    }

    char next() {
        if (at >= text.length()) {
            throw wrong();
        }
        return text.charAt(at++);
    }

    boolean take(char c) {
        if (peek() == c && at < text.length()) {
            at++;
            return true;
        }
        return false;
    }

    void expect(char c) {
        if (!take(c)) {
            throw wrong();
        }
    }

    void end() {
        if (at != text.length()) {
            throw wrong();
        }
    }

    /** A word up to one of {@code ends}, which is left; in quotes, doubled quotes and backslashes stand for characters. */
    String word(char... ends) {
        var word = new StringBuilder();
        while (at < text.length() && !isOneOf(text.charAt(at), ends)) {
            char c = next();
            if (c == '\\') {
                word.append(next());
            } else if (c == '"') {
                quoted(word);
            } else {
                word.append(c);
            }
        }
        return word.toString();
    }

    private void quoted(StringBuilder word) {
        while (true) {
            char c = next();
            if (c == '\\') {
                word.append(next());
            } else if (c != '"') {
                word.append(c);
            } else if (take('"')) {
                word.append('"');
            } else {
                return;
            }
        }
    }

    private static boolean isOneOf(char c, char[] ends) {
        for (char end : ends) {
            if (c == end) {
                return true;
            }
        }
        return false;
    }

    RuntimeException wrong() {
        return Check.notText(type, text);
    }
}
