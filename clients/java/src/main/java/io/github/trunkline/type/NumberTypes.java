package io.github.trunkline.type;

import io.github.trunkline.ValueException;
import io.github.trunkline.wire.Bytes;
import io.github.trunkline.wire.Out;
import java.math.BigDecimal;
import java.math.BigInteger;

/** int2, int4, int8, oid, float4, float8. */
final class NumberTypes {
    private NumberTypes() {}

    static final Codec INT2 = new Codec("int2", new Int2(), new TextInteger("int2", 2),
            (value, out) -> out.int16((int) whole("int2", value, Short.MIN_VALUE, Short.MAX_VALUE)));
    static final Codec INT4 = new Codec("int4", new Int4(), new TextInteger("int4", 4),
            (value, out) -> out.int32((int) whole("int4", value, Integer.MIN_VALUE, Integer.MAX_VALUE)));
    static final Codec INT8 = new Codec("int8", new Int8(), new TextInteger("int8", 8),
            (value, out) -> out.int64(whole("int8", value, Long.MIN_VALUE, Long.MAX_VALUE)));
    static final Codec OID = oid("oid");
    static final Codec FLOAT4 = new Codec("float4", new Float4(), floatText("float4", Float::valueOf), NumberTypes::float4);
    static final Codec FLOAT8 = new Codec("float8", new Float8(), NumberTypes::float8Text, NumberTypes::float8);
    private static final Decoder ANY_FLOAT8 = floatText("float8", Double::valueOf);

    /** oid and its kin: unsigned, so Longs. */
    static Codec oid(String name) {
        return new Codec(name, new Oid(), new TextInteger(name, 8),
                (value, out) -> out.int32((int) whole(name, value, 0, 0xffffffffL)));
    }

    /** A value of any class that can be a whole number, within bounds. */
    static long whole(String type, Object value, long least, long most) {
        long number;
        if (value instanceof Long || value instanceof Integer || value instanceof Short || value instanceof Byte) {
            number = ((Number) value).longValue();
        } else if (value instanceof BigInteger big) {
            number = exact(type, new BigDecimal(big));
        } else if (value instanceof BigDecimal decimal) {
            number = exact(type, decimal);
        } else if (value instanceof Number other && other.doubleValue() == Math.rint(other.doubleValue())
                && Math.abs(other.doubleValue()) < 0x1p53) {
            number = other.longValue();
        } else {
            throw Check.cannotHold(type, value);
        }
        if (number < least || number > most) {
            throw new ValueException(number + " does not fit into " + type);
        }
        return number;
    }

    private static long exact(String type, BigDecimal value) {
        try {
            return value.longValueExact();
        } catch (ArithmeticException e) {
            throw new ValueException(value.toPlainString() + " does not fit into " + type, e);
        }
    }

    private static void float4(Object value, Out out) {
        if (!(value instanceof Number number)) {
            throw Check.cannotHold("float4", value);
        }
        out.float32(number.floatValue());
    }

    private static void float8(Object value, Out out) {
        if (!(value instanceof Number number)) {
            throw Check.cannotHold("float8", value);
        }
        out.float64(number.doubleValue());
    }

    private static Object float8Text(byte[] bytes, int at, int length) {
        Double number = FloatText.decode(bytes, at, length);
        return number != null ? number : ANY_FLOAT8.decode(bytes, at, length);
    }

    private static Decoder floatText(String type, java.util.function.Function<String, Object> parse) {
        return (bytes, at, length) -> {
            String text = Codec.utf8(bytes, at, length);
            try {
                // PostgreSQL and Java agree on NaN and Infinity.
                return parse.apply(text);
            } catch (NumberFormatException e) {
                throw Check.notText(type, text);
            }
        };
    }

    private static final class Int2 implements Decoder {
        @Override
        public Object decode(byte[] bytes, int at, int length) {
            Check.length("int2", 2, length);
            return Bytes.int16(bytes, at);
        }

        @Override
        public long decodeLong(byte[] bytes, int at, int length) {
            Check.length("int2", 2, length);
            return Bytes.int16(bytes, at);
        }

        @Override
        public double decodeDouble(byte[] bytes, int at, int length) {
            return decodeLong(bytes, at, length);
        }
    }

    private static final class Int4 implements Decoder {
        @Override
        public Object decode(byte[] bytes, int at, int length) {
            Check.length("int4", 4, length);
            return Bytes.int32(bytes, at);
        }

        @Override
        public long decodeLong(byte[] bytes, int at, int length) {
            Check.length("int4", 4, length);
            return Bytes.int32(bytes, at);
        }

        @Override
        public double decodeDouble(byte[] bytes, int at, int length) {
            return decodeLong(bytes, at, length);
        }
    }

    private static final class Int8 implements Decoder {
        @Override
        public Object decode(byte[] bytes, int at, int length) {
            Check.length("int8", 8, length);
            return Bytes.int64(bytes, at);
        }

        @Override
        public long decodeLong(byte[] bytes, int at, int length) {
            Check.length("int8", 8, length);
            return Bytes.int64(bytes, at);
        }

        @Override
        public double decodeDouble(byte[] bytes, int at, int length) {
            return decodeLong(bytes, at, length);
        }
    }

    /** Unsigned, so a Long. */
    private static final class Oid implements Decoder {
        @Override
        public Object decode(byte[] bytes, int at, int length) {
            return decodeLong(bytes, at, length);
        }

        @Override
        public long decodeLong(byte[] bytes, int at, int length) {
            Check.length("oid", 4, length);
            return Bytes.uint32(bytes, at);
        }
    }

    private static final class Float4 implements Decoder {
        @Override
        public Object decode(byte[] bytes, int at, int length) {
            Check.length("float4", 4, length);
            return Float.intBitsToFloat(Bytes.int32(bytes, at));
        }

        @Override
        public double decodeDouble(byte[] bytes, int at, int length) {
            Check.length("float4", 4, length);
            return Float.intBitsToFloat(Bytes.int32(bytes, at));
        }
    }

    private static final class Float8 implements Decoder {
        @Override
        public Object decode(byte[] bytes, int at, int length) {
            return decodeDouble(bytes, at, length);
        }

        @Override
        public double decodeDouble(byte[] bytes, int at, int length) {
            Check.length("float8", 8, length);
            return Double.longBitsToDouble(Bytes.int64(bytes, at));
        }
    }

    /** Digits with a sign; {@code size} bytes in binary say which class the number has. */
    private record TextInteger(String type, int size) implements Decoder {
        @Override
        public Object decode(byte[] bytes, int at, int length) {
            long value = decodeLong(bytes, at, length);
            return size == 8 ? (Object) value : size == 4 ? (Object) (int) value : (Object) (short) value;
        }

        @Override
        public long decodeLong(byte[] bytes, int at, int length) {
            boolean negative = length > 0 && bytes[at] == '-';
            long value = 0;
            int first = negative ? 1 : 0;
            if (length == first || length > 20) {
                throw Check.notText(type, Codec.utf8(bytes, at, length));
            }
            for (int i = first; i < length; i++) {
                int digit = bytes[at + i] - '0';
                if (digit < 0 || digit > 9) {
                    throw Check.notText(type, Codec.utf8(bytes, at, length));
                }
                value = value * 10 - digit;
            }
            // The sum is negative, because the least long has no positive counterpart.
            return negative ? value : -value;
        }

        @Override
        public double decodeDouble(byte[] bytes, int at, int length) {
            return decodeLong(bytes, at, length);
        }
    }
}
