package io.github.trunkline.wire;

import io.github.trunkline.ProtocolException;

/**
 * A DataRow read in place: a count, and for each value a length (-1 for NULL) and its bytes.
 *
 * <p>A row that the program does not read should cost little more than a step over it. So only the count is checked when the
 * row arrives. Each read of a value checks the lengths up to that value, by the length in the message's header, which lies
 * before the body. No read ever returns bytes outside of the row.
 */
public final class DataRow {
    private DataRow() {}

    /** True if the body from {@code start} to {@code end} says that it holds {@code columns} values. */
    public static boolean hasCount(byte[] bytes, int start, int end, int columns) {
        return end - start >= 2 && Bytes.uint16(bytes, start) == columns;
    }

    /** Where the body that begins at {@code start} ends, as the header before it says. */
    public static int end(byte[] bytes, int start) {
        return start - 4 + Bytes.int32(bytes, start - 4);
    }

    /**
     * Where the length of value {@code column} lies. That length is checked, too.
     *
     * <p>The loop compares nothing: as long as no length is below -1, the position only grows. So if the last position is
     * within the row, all were.
     *
     * @param start where the body begins, in a message whose count is right and whose header lies before it
     * @throws ProtocolException if a length up to there is wrong
     */
    public static int seek(byte[] bytes, int start, int column) {
        int at = start + 2;
        int signs = 0;
        try {
            for (int i = 0; i < column; i++) {
                int length = Bytes.int32(bytes, at);
                // Negative for every wrong length, and for the one length to which 1 cannot be added.
                signs |= length + 1;
                // A sum that overflows is negative: the next read throws.
                at += 4 + Math.max(length, 0);
            }
            int length = Bytes.int32(bytes, at);
            if ((signs | length + 1) >= 0 && Math.max(length, 0) <= end(bytes, start) - at - 4) {
                return at;
            }
        } catch (IndexOutOfBoundsException e) {
            // broken() finds out where.
        }
        throw broken(bytes, start);
    }

    /**
     * Proves that the body from {@code start} to {@code end} holds exactly {@code columns} values.
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

    /** The exception for a broken body. */
    public static ProtocolException broken(byte[] bytes, int start) {
        try {
            check(bytes, start, end(bytes, start), Bytes.uint16(bytes, start));
        } catch (ProtocolException e) {
            return e;
        }
        throw new IllegalStateException("a right DataRow was taken for a broken one");
    }

    private static ProtocolException broken(String what, int at, int size) {
        return new ProtocolException(
                "the server sent a broken DataRow: " + what + ", at byte " + at + " of " + size);
    }
}
