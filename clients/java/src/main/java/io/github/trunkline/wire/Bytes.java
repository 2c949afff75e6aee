package io.github.trunkline.wire;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Big-endian numbers in a byte array, as the protocol and PostgreSQL's binary formats have them. */
public final class Bytes {
    private static final VarHandle SHORT =
            MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.BIG_ENDIAN);
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private Bytes() {}

    /** Two bytes, signed. */
    public static short int16(byte[] bytes, int at) {
        return (short) SHORT.get(bytes, at);
    }

    /** Two bytes, unsigned. */
    public static int uint16(byte[] bytes, int at) {
        return (short) SHORT.get(bytes, at) & 0xffff;
    }

    /** Four bytes, signed. */
    public static int int32(byte[] bytes, int at) {
        return (int) INT.get(bytes, at);
    }

    /** Four bytes, unsigned. */
    public static long uint32(byte[] bytes, int at) {
        return (int) INT.get(bytes, at) & 0xffffffffL;
    }

    /** Eight bytes, signed. */
    public static long int64(byte[] bytes, int at) {
        return (long) LONG.get(bytes, at);
    }

    /** Puts two bytes. */
    public static void putInt16(byte[] bytes, int at, int value) {
        SHORT.set(bytes, at, (short) value);
    }

    /** Puts four bytes. */
    public static void putInt32(byte[] bytes, int at, int value) {
        INT.set(bytes, at, value);
    }

    /** Puts eight bytes. */
    public static void putInt64(byte[] bytes, int at, long value) {
        LONG.set(bytes, at, value);
    }
}
