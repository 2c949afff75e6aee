package io.github.trunkline.type;

import io.github.trunkline.ValueException;
import io.github.trunkline.wire.Bytes;
import io.github.trunkline.wire.Out;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;

/**
 * numeric: a BigDecimal; NaN and the infinities, which no BigDecimal can be, are Doubles. In binary it is a count of
 * digits to base 10,000, the first digit's weight, a sign, a display scale, and the digits (numeric_send).
 */
final class NumericType {
    private static final int NEGATIVE = 0x4000;
    private static final int NAN = 0xc000;
    private static final int INFINITY = 0xd000;
    private static final int NEGATIVE_INFINITY = 0xf000;
    /** How many digits to base 10,000 fit into a long. */
    private static final int LONG_DIGITS = 4;
    private static final long[] POWERS = {1, 10, 100, 1000, 10_000};

    /** How many decimal digits always fit into a long. */
    private static final int LONG_DECIMALS = 18;

    static final Codec CODEC = new Codec("numeric", NumericType::decode, NumericType::decodeText, NumericType::encode);

    private NumericType() {}

    private static Object decode(byte[] bytes, int at, int length) {
        Check.atLeast("numeric", 8, length);
        int count = Bytes.uint16(bytes, at);
        int weight = Bytes.int16(bytes, at + 2);
        int sign = Bytes.uint16(bytes, at + 4);
        int scale = Bytes.uint16(bytes, at + 6) & 0x3fff;
        Check.length("numeric", 8 + 2 * count, length);
        switch (sign) {
            case NAN: return Double.NaN;
            case INFINITY: return Double.POSITIVE_INFINITY;
            case NEGATIVE_INFINITY: return Double.NEGATIVE_INFINITY;
            case 0, NEGATIVE: break;
            default: throw new ValueException("a numeric has sign " + sign);
        }
        if (count == 0) {
            return BigDecimal.valueOf(0, scale);
        }
        int exponent = (weight - count + 1) * 4;
        BigDecimal value;
        if (count <= LONG_DIGITS) {
            long digits = small(bytes, at + 8, count, sign);
            // The last group of four digits ends behind the scale or before it. Most often a long can still hold the digits.
            int surplus = -exponent - scale;
            if (surplus >= 0 && surplus < POWERS.length) {
                return BigDecimal.valueOf(cut(digits, surplus), scale);
            }
            if (surplus < 0 && -surplus < POWERS.length && count < LONG_DIGITS) {
                return BigDecimal.valueOf(digits * POWERS[-surplus], scale);
            }
            value = BigDecimal.valueOf(digits, -exponent);
        } else {
            value = new BigDecimal(large(bytes, at + 8, count, sign), -exponent);
        }
        return value.scale() == scale ? value : value.setScale(scale, RoundingMode.DOWN);
    }

    /** Divides by constants, which costs a multiplication; a division by a variable takes ten times as long. */
    private static long cut(long digits, int surplus) {
        return switch (surplus) {
            case 0 -> digits;
            case 1 -> digits / 10;
            case 2 -> digits / 100;
            case 3 -> digits / 1000;
            default -> digits / 10_000;
        };
    }

    private static long small(byte[] bytes, int at, int count, int sign) {
        long value = 0;
        for (int i = 0; i < count; i++) {
            value = value * 10_000 + digit(bytes, at + 2 * i);
        }
        return sign == NEGATIVE ? -value : value;
    }

    /** Through decimal digits, which BigInteger reads in less than quadratic time when they are many. */
    private static BigInteger large(byte[] bytes, int at, int count, int sign) {
        var digits = new StringBuilder(count * 4 + 1);
        if (sign == NEGATIVE) {
            digits.append('-');
        }
        for (int i = 0; i < count; i++) {
            int digit = digit(bytes, at + 2 * i);
            digits.append((char) ('0' + digit / 1000)).append((char) ('0' + digit / 100 % 10))
                    .append((char) ('0' + digit / 10 % 10)).append((char) ('0' + digit % 10));
        }
        return new BigInteger(digits.toString());
    }

    private static int digit(byte[] bytes, int at) {
        int digit = Bytes.uint16(bytes, at);
        if (digit >= 10_000) {
            throw new ValueException("a numeric has a digit of " + digit + " to base 10,000");
        }
        return digit;
    }

    /** Reads digits with a point among them. Everything else is rare, and left to BigDecimal. */
    private static Object decodeText(byte[] bytes, int at, int length) {
        int first = length > 0 && bytes[at] == '-' ? 1 : 0;
        if (length == first || length - first > LONG_DECIMALS) {
            return parse(Codec.utf8(bytes, at, length));
        }
        long value = 0;
        int point = -1;
        for (int i = first; i < length; i++) {
            int digit = bytes[at + i] - '0';
            if (digit >= 0 && digit <= 9) {
                value = value * 10 + digit;
            } else if (bytes[at + i] == '.' && point < 0 && i > first && i < length - 1) {
                point = i;
            } else {
                return parse(Codec.utf8(bytes, at, length));
            }
        }
        return BigDecimal.valueOf(first == 1 ? -value : value, point < 0 ? 0 : length - 1 - point);
    }

    private static Object parse(String text) {
        switch (text) {
            case "NaN": return Double.NaN;
            case "Infinity": return Double.POSITIVE_INFINITY;
            case "-Infinity": return Double.NEGATIVE_INFINITY;
            default: break;
        }
        try {
            return new BigDecimal(text);
        } catch (NumberFormatException e) {
            throw Check.notText("numeric", text);
        }
    }

    private static void encode(Object value, Out out) {
        if (value instanceof Double || value instanceof Float) {
            double number = ((Number) value).doubleValue();
            if (Double.isNaN(number) || Double.isInfinite(number)) {
                out.int16(0).int16(0).int16(
                        Double.isNaN(number) ? NAN : number > 0 ? INFINITY : NEGATIVE_INFINITY).int16(0);
                return;
            }
            encodeDecimal(new BigDecimal(value.toString()), out);
        } else if (value instanceof BigDecimal decimal) {
            encodeDecimal(decimal, out);
        } else if (value instanceof BigInteger integer) {
            encodeDecimal(new BigDecimal(integer), out);
        } else {
            encodeDecimal(BigDecimal.valueOf(
                    NumberTypes.whole("numeric", value, Long.MIN_VALUE, Long.MAX_VALUE)), out);
        }
    }

    private static void encodeDecimal(BigDecimal given, Out out) {
        if (given.precision() - (long) given.scale() > 131_072 || given.scale() > 16_383) {
            throw new ValueException("a numeric has at most 131,072 digits before the point and 16,383 after it");
        }
        BigDecimal value = given.scale() < 0 ? given.setScale(0) : given;
        int scale = value.scale();
        // Padded on both sides, so that groups of four digits meet at the decimal point.
        String digits = value.unscaledValue().abs().toString();
        int behind = (4 - scale % 4) % 4;
        digits += "0".repeat(behind);
        int groupsBehind = (scale + behind) / 4;
        digits = "0".repeat(Math.max(0, groupsBehind * 4 - digits.length())) + digits;
        digits = "0".repeat((4 - digits.length() % 4) % 4) + digits;
        int groups = digits.length() / 4;
        int first = 0;
        while (first < groups && digits.startsWith("0000", first * 4)) {
            first++;
        }
        out.int16(groups - first).int16(groups - first == 0 ? 0 : groups - groupsBehind - first - 1);
        out.int16(value.signum() < 0 ? NEGATIVE : 0).int16(scale);
        for (int i = first; i < groups; i++) {
            out.int16(Integer.parseInt(digits, i * 4, i * 4 + 4, 10));
        }
    }
}
