package io.github.trunkline.wire;

import io.github.trunkline.ProtocolException;

/** A DataRow read in place: a count, and for each value a length (-1 for NULL) and its bytes. */
public final class DataRow {
    private DataRow() {}

    /**
     * Proves that the body from {@code start} to {@code end} holds exactly {@code columns} values, so that later reads
     * need no checks.
     *
     * @throws ProtocolException if it does not
     */
    public static void check(byte[] bytes, int start, int end, int columns) {
        if (end - start < 2) {
            throw broken("the count is missing", 0, end - start);
        }
        int count = Bytes.uint16(bytes, start);
        if (count != columns) {
            throw broken("it has " + count + " values for " + columns + " columns", 0, end - start);
        }
        int at = start + 2;
        for (int i = 0; i < count; i++) {
            if (end - at < 4) {
                throw broken("value " + i + " is missing", at - start, end - start);
            }
            int length = Bytes.int32(bytes, at);
            at += 4;
            // Compared with what is left, not added: a sum could be larger than an int holds.
            if (length > end - at || length < -1) {
                throw broken("value " + i + " has length " + length, at - start, end - start);
            }
            at += Math.max(length, 0);
        }
        if (at != end) {
            throw broken((end - at) + " bytes are left over", at - start, end - start);
        }
    }

    /** Where value {@code column} of a checked row has its length. */
    public static int seek(byte[] bytes, int start, int column) {
        int at = start + 2;
        for (int i = 0; i < column; i++) {
            at += 4 + Math.max(Bytes.int32(bytes, at), 0);
        }
        return at;
    }

    private static ProtocolException broken(String what, int at, int size) {
        return new ProtocolException(
                "the server sent a broken DataRow: " + what + ", at byte " + at + " of " + size);
    }
}
