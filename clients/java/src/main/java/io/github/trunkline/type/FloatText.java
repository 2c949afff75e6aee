package io.github.trunkline.type;

import java.math.BigInteger;

/**
 * float8 in text, read from the bytes: digits, perhaps a point among them, perhaps an exponent. PostgreSQL writes as few digits
 * as say which double it is, most often 16 or 17, for which Java's own reader takes several times as long.
 *
 * <p>The digits as a whole number times a power of ten of 128 bits give the double's 53 bits, or else nobody can say from 128
 * bits how to round; then Java decides. This is the algorithm of D. Lemire, "Number Parsing at a Gigabyte per Second", section 5.
 */
final class FloatText {
    /** So many digits fit into a long without a sign, whatever they are. */
    private static final int DIGITS_MAX = 19;
    /** Ten to a smaller power makes no double of 19 digits, ten to a larger one none that is finite. */
    private static final int POWER_MIN = -325;
    private static final int POWER_MAX = 308;
    /** From here to -1 the paper's proof wants the quotient rounded up. */
    private static final int ROUNDED_UP_MIN = -27;
    /** A double holds whole numbers of so many digits, and these powers of ten, exactly: their quotient is rounded once. */
    private static final int EXACT_DIGITS = 15;
    private static final double[] EXACT_POWERS = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13,
        1e14, 1e15};
    private static final int MANTISSA_BITS = 52;
    private static final int EXPONENT_BIAS = 1023;

    private FloatText() {}

    /** The highest 128 bits of each power of ten, made when the first number needs them. */
    private static final class Powers {
        static final long[] HIGH = new long[POWER_MAX - POWER_MIN + 1];
        static final long[] LOW = new long[POWER_MAX - POWER_MIN + 1];

        static {
            for (int power = POWER_MIN; power <= POWER_MAX; power++) {
                // A power of two changes the exponent only, so that powers of five have the bits of powers of ten.
                BigInteger fives = BigInteger.valueOf(5).pow(Math.abs(power));
                BigInteger bits;
                if (power >= 0) {
                    int surplus = fives.bitLength() - 128;
                    bits = surplus > 0 ? fives.shiftRight(surplus) : fives.shiftLeft(-surplus);
                } else {
                    int shift = fives.bitLength() + 127;
                    BigInteger cut = BigInteger.ONE.shiftLeft(shift).divide(fives);
                    bits = power >= ROUNDED_UP_MIN ? cut.add(BigInteger.ONE) : cut;
                }
                HIGH[power - POWER_MIN] = bits.shiftRight(64).longValue();
                LOW[power - POWER_MIN] = bits.longValue();
            }
        }
    }

    /** The number; null if the text has another shape, or is a number that is left to Java. */
    static Double decode(byte[] bytes, int start, int length) {
        int end = start + length;
        boolean negative = length > 0 && bytes[start] == '-';
        int at = negative ? start + 1 : start;
        int first = at;
        long digits = 0;
        int point = -1;
        for (; at < end; at++) {
            int digit = bytes[at] - '0';
            if (digit >= 0 && digit <= 9) {
                digits = digits * 10 + digit;
            } else if (bytes[at] == '.' && point < 0 && at > first) {
                point = at;
            } else {
                break;
            }
        }
        int count = at - first - (point < 0 ? 0 : 1);
        if (count == 0 || count > DIGITS_MAX || point == at - 1) {
            return null;
        }
        int power = point < 0 ? 0 : point + 1 - at;
        if (at < end) {
            int exponent = exponent(bytes, at, end);
            if (exponent == Integer.MIN_VALUE) {
                return null;
            }
            power += exponent;
        }
        double number;
        if (count <= EXACT_DIGITS && power <= 0 && power >= -EXACT_DIGITS) {
            number = digits / EXACT_POWERS[-power];
        } else {
            number = digits == 0 ? 0 : rounded(digits, power);
            if (Double.isNaN(number)) {
                return null;
            }
        }
        return negative ? -number : number;
    }

    /** {@code e+22}, {@code e-300}; the least int for any other text. */
    private static int exponent(byte[] bytes, int at, int end) {
        if (end - at < 3 || end - at > 5 || bytes[at] != 'e' || bytes[at + 1] != '+' && bytes[at + 1] != '-') {
            return Integer.MIN_VALUE;
        }
        int value = 0;
        for (int i = at + 2; i < end; i++) {
            int digit = bytes[i] - '0';
            if (digit < 0 || digit > 9) {
                return Integer.MIN_VALUE;
            }
            value = value * 10 + digit;
        }
        return bytes[at + 1] == '-' ? -value : value;
    }

    /** The double nearest to {@code digits} (unsigned, not 0) times ten to {@code power}; NaN if this cannot tell. */
    private static double rounded(long digits, int power) {
        if (power < POWER_MIN || power > POWER_MAX) {
            return Double.NaN;
        }
        int zeros = Long.numberOfLeadingZeros(digits);
        long normal = digits << zeros;
        long ten = Powers.HIGH[power - POWER_MIN];
        long high = multiplyHigh(normal, ten);
        long low = normal * ten;
        if ((high & 0x1ff) == 0x1ff) {
            // What the lower half of the power adds may still change the bits that count.
            long more = multiplyHigh(normal, Powers.LOW[power - POWER_MIN]);
            low += more;
            if (Long.compareUnsigned(low, more) < 0) {
                high++;
            }
        }
        if (low == -1) {
            return Double.NaN;
        }
        int upper = (int) (high >>> 63);
        // 54 bits: the last one says which way to round.
        int surplus = upper + 64 - MANTISSA_BITS - 3;
        long mantissa = high >>> surplus;
        // 217706 / 65536 is the binary logarithm of ten, near enough for all powers here.
        int exponent = (217_706 * power >> 16) + 63 + upper - zeros + EXPONENT_BIAS;
        boolean half = Long.compareUnsigned(low, 1) <= 0 && (mantissa & 3) == 1 && mantissa << surplus == high;
        if (exponent <= 0 || half) {
            // Too small for 53 bits, or perhaps exactly between two doubles.
            return Double.NaN;
        }
        mantissa = mantissa + (mantissa & 1) >>> 1;
        if (mantissa >= 1L << MANTISSA_BITS + 1) {
            mantissa = 1L << MANTISSA_BITS;
            exponent++;
        }
        if (exponent >= 2 * EXPONENT_BIAS + 1) {
            return Double.NaN;
        }
        return Double.longBitsToDouble(mantissa & ~(1L << MANTISSA_BITS) | (long) exponent << MANTISSA_BITS);
    }

    /** The higher half of a product of two unsigned longs; Java 17 has only that of signed ones. */
    private static long multiplyHigh(long a, long b) {
        return Math.multiplyHigh(a, b) + (a >> 63 & b) + (b >> 63 & a);
    }
}
