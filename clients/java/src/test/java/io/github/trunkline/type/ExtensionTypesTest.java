package io.github.trunkline.type;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.trunkline.ValueException;
import io.github.trunkline.wire.Out;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/** pgvector is not among the servers that the tests have: its formats by the bytes that its send functions write. */
class ExtensionTypesTest {
    private static byte[] sent(Codec codec, Object value) {
        var out = new Out();
        codec.encoder().encode(value, out);
        return Arrays.copyOf(out.array(), out.size());
    }

    private static void same(Codec codec, float[] value, String hex, String text) {
        byte[] bytes = HexFormat.of().parseHex(hex);
        assertArrayEquals(value, (float[]) codec.binary().decode(bytes, 0, bytes.length));
        assertArrayEquals(bytes, sent(codec, value));
        byte[] written = text.getBytes(java.nio.charset.StandardCharsets.US_ASCII);
        assertArrayEquals(value, (float[]) codec.text().decode(written, 0, written.length));
        assertEquals(text, TextForm.of(codec, value).replace(".0", ""));
    }

    @Test
    void vectors() {
        same(ExtensionTypes.VECTOR, new float[] {1, -2.5f, 0}, "00030000" + "3f800000" + "c0200000" + "00000000", "[1,-2.5,0]");
        assertArrayEquals(sent(ExtensionTypes.VECTOR, new float[] {1, 2}), sent(ExtensionTypes.VECTOR, List.of(1, 2.0)));
        assertThrows(ValueException.class, () -> ExtensionTypes.VECTOR.binary().decode(new byte[] {0, 2, 0, 0, 0}, 0, 5));
        assertThrows(ValueException.class, () -> sent(ExtensionTypes.VECTOR, "1"));
    }

    @Test
    void halfVectors() {
        same(ExtensionTypes.HALF_VECTOR, new float[] {1, -2, 0.5f, 65504, 0}, "00050000" + "3c00" + "c000" + "3800" + "7bff" + "0000",
                "[1,-2,0.5,65504,0]");
        for (int half = 0; half < 0x10000; half++) {
            byte[] bytes = {0, 1, 0, 0, (byte) (half >> 8), (byte) half};
            float[] value = (float[]) ExtensionTypes.HALF_VECTOR.binary().decode(bytes, 0, 6);
            if (!Float.isNaN(value[0])) {
                assertArrayEquals(bytes, sent(ExtensionTypes.HALF_VECTOR, value), "" + value[0]);
            }
        }
        // Rounded to the nearest, of two as near to the even one.
        assertArrayEquals(sent(ExtensionTypes.HALF_VECTOR, new float[] {2048, 2052, Float.POSITIVE_INFINITY, 0x1p-14f}),
                sent(ExtensionTypes.HALF_VECTOR, new float[] {2049, 2051, 65520, 0x1.ffep-15f}));
    }
}
