package io.github.trunkline.copy;

import io.github.trunkline.ValueException;
import io.github.trunkline.session.CopyTurn;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.regex.Pattern;

/** COPY's text format in its default shape: a line for each row, tabs between the values, backslashes, NULL as {@code \N}. */
final class CopyText {
    static final String NULL = "\\N";
    private static final String PLAIN = "\b\f\n\r\t\u000b\\";
    private static final String ESCAPED = "bfnrtv\\";
    /** Options that change the text format. The server reports whether the data is text or binary, but not these. */
    private static final Pattern OTHER_SHAPE = Pattern.compile(
            "(?is)\\bstd(in|out)\\b.*\\b(csv|delimiters?|null|header|encoding)\\b");

    private CopyText() {}

    /** Refuses rows of values if the statement's options ask for another format than this one or binary. */
    static void check(CopyTurn turn) {
        if (!turn.isBinary() && OTHER_SHAPE.matcher(turn.sql()).find()) {
            throw new ValueException("rows of values go by COPY in text without options, or WITH (FORMAT binary), but not by: "
                    + turn.sql());
        }
    }

    static String escape(String text) {
        StringBuilder escaped = null;
        for (int i = 0; i < text.length(); i++) {
            int special = PLAIN.indexOf(text.charAt(i));
            if (special >= 0 && escaped == null) {
                escaped = new StringBuilder(text.length() + 16).append(text, 0, i);
            }
            if (special >= 0) {
                escaped.append('\\').append(ESCAPED.charAt(special));
            } else if (escaped != null) {
                escaped.append(text.charAt(i));
            }
        }
        return escaped == null ? text : escaped.toString();
    }

    /** The next line's values as bytes, null where NULL; null at the end. */
    static byte[][] line(InputStream in, int columns) throws IOException {
        int c = in.read();
        if (c < 0) {
            return null;
        }
        var values = new byte[columns][];
        var value = new ByteArrayOutputStream();
        boolean isNull = false;
        for (int column = 0;; c = in.read()) {
            if (c == '\t' || c == '\n' || c < 0) {
                if (column == columns) {
                    throw new ValueException("a line of the COPY has more than " + columns + " values");
                }
                values[column++] = isNull ? null : value.toByteArray();
                value.reset();
                isNull = false;
                if (c != '\t' && column < columns) {
                    throw new ValueException("a line of the COPY has " + column + " values for " + columns + " columns");
                }
                if (c != '\t') {
                    return values;
                }
            } else if (c != '\\') {
                value.write(c);
            } else {
                c = in.read();
                isNull |= c == 'N' && value.size() == 0;
                int special = ESCAPED.indexOf(c);
                value.write(special >= 0 ? PLAIN.charAt(special) : c);
            }
        }
    }
}
