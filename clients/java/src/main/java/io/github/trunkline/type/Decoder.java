package io.github.trunkline.type;

import io.github.trunkline.ValueException;

/**
 * Reads one value of a type in one format from a byte array. The client chooses a decoder for each column when a statement is
 * described. The primitive readers call {@link #decode} by default; a type that needs no box overrides them. Many threads use
 * a decoder at once, so it must be immutable.
 */
@FunctionalInterface
public interface Decoder {
    /**
     * Reads a value that is not NULL.
     *
     * @param bytes where it lies
     * @param at its first byte
     * @param length how many bytes it has
     * @throws RuntimeException if the bytes do not have the type's shape
     */
    Object decode(byte[] bytes, int at, int length);

    /** Reads it as a long. */
    default long decodeLong(byte[] bytes, int at, int length) {
        Object value = decode(bytes, at, length);
        if (value instanceof Long || value instanceof Integer || value instanceof Short) {
            return ((Number) value).longValue();
        }
        if (value instanceof java.math.BigDecimal decimal) {
            return decimal.longValueExact();
        }
        throw notA("whole number", value);
    }

    /** Reads it as a double. */
    default double decodeDouble(byte[] bytes, int at, int length) {
        if (decode(bytes, at, length) instanceof Number number) {
            return number.doubleValue();
        }
        throw notA("number", decode(bytes, at, length));
    }

    /** Reads it as a boolean. */
    default boolean decodeBoolean(byte[] bytes, int at, int length) {
        if (decode(bytes, at, length) instanceof Boolean truth) {
            return truth;
        }
        throw notA("boolean", decode(bytes, at, length));
    }

    /** Reads it as a text: by default what its object's {@code toString} says. */
    default String decodeString(byte[] bytes, int at, int length) {
        return decode(bytes, at, length).toString();
    }

    private static ValueException notA(String wanted, Object value) {
        return new ValueException("a value of " + value.getClass().getName() + " is no " + wanted);
    }
}
