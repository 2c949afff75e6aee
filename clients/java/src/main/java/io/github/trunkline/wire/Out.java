package io.github.trunkline.wire;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Bytes on their way to the server: a buffer that grows. Codecs of parameters write to it. */
public final class Out {
    private static final int INITIAL_BYTES = 1024;
    /** A buffer that has grown beyond this is dropped once it is sent. */
    private static final int KEPT_BYTES_MAX = 256 * 1024;

    private byte[] bytes = new byte[INITIAL_BYTES];
    private int size;

    /** How many bytes have been put. */
    public int size() {
        return size;
    }

    /** The buffer itself; the first {@link #size} bytes count. */
    public byte[] array() {
        return bytes;
    }

    /** Forgets everything. */
    public void clear() {
        size = 0;
        if (bytes.length > KEPT_BYTES_MAX) {
            bytes = new byte[INITIAL_BYTES];
        }
    }

    /** Forgets what was put after the first {@code bytes}. */
    public void truncate(int bytes) {
        size = bytes;
    }

    /** Puts the lowest eight bits. */
    public Out int8(int value) {
        room(1);
        bytes[size++] = (byte) value;
        return this;
    }

    /** Puts two bytes. */
    public Out int16(int value) {
        room(2);
        Bytes.putInt16(bytes, size, value);
        size += 2;
        return this;
    }

    /** Puts four bytes. */
    public Out int32(int value) {
        room(4);
        Bytes.putInt32(bytes, size, value);
        size += 4;
        return this;
    }

    /** Puts eight bytes. */
    public Out int64(long value) {
        room(8);
        Bytes.putInt64(bytes, size, value);
        size += 8;
        return this;
    }

    /** Puts a double as eight bytes of IEEE 754. */
    public Out float64(double value) {
        return int64(Double.doubleToRawLongBits(value));
    }

    /** Puts a float as four bytes of IEEE 754. */
    public Out float32(float value) {
        return int32(Float.floatToRawIntBits(value));
    }

    /** Puts bytes as they are. */
    public Out bytes(byte[] value) {
        return bytes(value, 0, value.length);
    }

    /** Puts a part of an array. */
    public Out bytes(byte[] value, int offset, int length) {
        room(length);
        System.arraycopy(value, offset, bytes, size, length);
        size += length;
        return this;
    }

    /** Puts a text in UTF-8, without an end. */
    public Out text(String text) {
        return bytes(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Puts a text in UTF-8 and a zero byte. */
    public Out cString(String text) {
        if (text.indexOf('\0') >= 0) {
            throw new IllegalArgumentException("a text with a zero character cannot be sent: " + text.replace('\0', '?'));
        }
        return text(text).int8(0);
    }

    /** Leaves four bytes for a length: give what this returns to {@link #patchLength}. */
    public int openLength() {
        int32(0);
        return size;
    }

    /** Fills in the length of what was put since {@link #openLength}. */
    public void patchLength(int mark) {
        Bytes.putInt32(bytes, mark - 4, size - mark);
    }

    /** Fills in a length that counts its own four bytes, as messages have it. */
    void patchMessageLength(int mark) {
        Bytes.putInt32(bytes, mark - 4, size - mark + 4);
    }

    private void room(int count) {
        if (count > bytes.length - size) {
            long wanted = Math.max(bytes.length * 2L, (long) size + count);
            if ((long) size + count > Integer.MAX_VALUE - 16) {
                throw new IllegalArgumentException("a message may have 2 GiB, not more");
            }
            bytes = Arrays.copyOf(bytes, (int) Math.min(wanted, Integer.MAX_VALUE - 16));
        }
    }
}
