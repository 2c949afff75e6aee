package io.github.trunkline.type;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.trunkline.ValueException;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** float8's text is read as Java reads it, to the last bit. */
class FloatTextTest {
    private static void same(String text) {
        byte[] bytes = ("xx" + text + "9").getBytes(StandardCharsets.US_ASCII);
        double expected = Double.parseDouble(text);
        double found = (Double) NumberTypes.FLOAT8.text().decode(bytes, 2, text.length());
        assertEquals(Double.doubleToLongBits(expected), Double.doubleToLongBits(found), text);
    }

    /** As PostgreSQL writes a double: a small exponent's sign and two digits. */
    private static String written(double value) {
        return Double.toString(value).replaceFirst("E(\\d)$", "e+0$1").replaceFirst("E(\\d)", "e+$1")
                .replaceFirst("E-(\\d)$", "e-0$1").replace("E-", "e-");
    }

    @Test
    void everyKindOfDouble() {
        var random = new Random(20260101);
        for (int i = 0; i < 300_000; i++) {
            double bits = Double.longBitsToDouble(random.nextLong());
            if (Double.isFinite(bits)) {
                same(written(bits));
            }
            same(written(random.nextDouble() * 1e6));
            same(written(random.nextInt() / 7.0));
        }
    }

    @Test
    void digitsAndPowersOfAllLengths() {
        var random = new Random(20260102);
        for (int i = 0; i < 300_000; i++) {
            int count = 1 + random.nextInt(20);
            var digits = new StringBuilder(random.nextBoolean() ? "-" : "");
            for (int d = 0; d < count; d++) {
                digits.append((char) ('0' + random.nextInt(10)));
                if (d == 0 && count > 1 && random.nextBoolean()) {
                    digits.append('.');
                }
            }
            int power = random.nextInt(700) - 350;
            same(digits + (power < 0 ? "e-" : "e+") + String.format("%02d", Math.abs(power)));
            same(digits.toString());
        }
    }

    /** Exactly between two doubles, at the ends of what there is, and next to them. */
    @ParameterizedTest
    @ValueSource(strings = {"9007199254740993", "9007199254740992", "9007199254740995", "9007199254740991", "1e+23", "1e+22",
        "8.5e+22", "9.5e+22", "1.7976931348623157e+308", "1.7976931348623159e+308", "4.9e-324", "2.4703282292062327e-324",
        "2.2250738585072014e-308", "2.2250738585072011e-308", "9223372036854775807", "9999999999999999999", "0", "-0",
        "0.000", "0e+10", "5e-324", "18014398509481986", "1448997445238699", "6.631236846766476e-316",
        "0.500000000000000166", "3.518437208883201e+13", "62.5364939768271845828", "Infinity", "-Infinity", "NaN"})
    void hardOnes(String text) {
        same(text);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-", ".", "-.", "e+01", "1e", "1e+", "1e+1x", "1..2", "1.2.3", "--1", "0x1", "1,5"})
    void whatIsNoNumber(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        assertThrows(ValueException.class, () -> NumberTypes.FLOAT8.text().decode(bytes, 0, bytes.length));
    }
}
