package io.github.trunkline.wire;

import io.github.trunkline.ProtocolException;

/** Where one message of the server ends and the next begins: a type byte, and a length that counts itself. */
public final class Frame {
    /** A type byte and a length. */
    public static final int HEADER_BYTES = 5;

    private Frame() {}

    /**
     * How many bytes the message at {@code at} has, type byte included, or -1 if fewer than five are there.
     *
     * @throws ProtocolException if the length is impossible
     */
    public static int size(byte[] bytes, int at, int available, int bytesMax) {
        if (available < HEADER_BYTES) {
            return -1;
        }
        int length = Bytes.int32(bytes, at + 1);
        if (length < 4 || length > bytesMax - 1) {
            throw refused(bytes[at], length, bytesMax);
        }
        return length + 1;
    }

    private static ProtocolException refused(byte type, int length, int bytesMax) {
        return new ProtocolException("the server sent a message of type " + printable(type) + " that says it has "
                + Integer.toUnsignedString(length) + " bytes; messages have 4 to " + bytesMax
                + " (is that a PostgreSQL server at the other end?)");
    }

    static String printable(byte type) {
        return type > ' ' && type < 127 ? "'" + (char) type + "'" : "" + (type & 0xff);
    }
}
