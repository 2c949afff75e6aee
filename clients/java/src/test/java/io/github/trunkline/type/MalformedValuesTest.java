package io.github.trunkline.type;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.trunkline.PostgresException;
import io.github.trunkline.row.Columns;
import io.github.trunkline.row.Row;
import io.github.trunkline.wire.ColumnDescription;
import io.github.trunkline.wire.Out;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever bytes a value has, reading it gives an object or a {@link PostgresException}. */
class MalformedValuesTest {
    /** A type of each shape. */
    private static final int[] OIDS = {16, 17, 20, 21, 22, 23, 25, 26, 30, 114, 600, 602, 603, 604, 700, 701, 718, 829, 869, 650,
        1007, 1009, 1082, 1083, 1114, 1184, 1185, 1186, 1231, 1266, 1560, 1562, 1700, 2249, 2950, 3802, 3904, 3906, 4451,
        6150, 3807};

    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void refusesWithoutHarm(long seed) {
        var random = new Random(seed);
        var types = new Types();
        int read = 0;
        for (int round = 0; round < 250; round++) {
            for (int oid : OIDS) {
                for (boolean binary : new boolean[] {true, false}) {
                    Codec codec = types.codec(oid);
                    read += reads(oid, binary ? codec.binary() : codec.text(), bytes(random, binary)) ? 1 : 0;
                }
            }
        }
        assertEquals(true, read > 300, "hardly anything was read: " + read);
    }

    @ParameterizedTest
    @ValueSource(ints = {1007, 1009, 1700, 3904, 4451, 2249})
    void refusesCountsThatPromiseMoreThanIsThere(int oid) {
        var out = new Out();
        out.int32(1).int32(0).int32(23).int32(Integer.MAX_VALUE).int32(1).int32(4).int32(7);
        assertEquals(false, reads(oid, new Types().codec(oid).binary(), java.util.Arrays.copyOf(out.array(), out.size())));
    }

    private static byte[] bytes(Random random, boolean binary) {
        var bytes = new byte[random.nextInt(48)];
        String letters = "0123456789-+:., {}()[]\"\\eNaIinfty\u00fc";
        for (int i = 0; i < bytes.length; i++) {
            // Small numbers are what lengths and counts are made of.
            bytes[i] = (byte) (!binary ? letters.charAt(random.nextInt(letters.length()))
                    : random.nextInt(4) == 0 ? random.nextInt() : random.nextInt(4) == 0 ? random.nextInt(30) : 0);
        }
        return bytes;
    }

    private static boolean reads(int oid, Decoder decoder, byte[] value) {
        var out = new Out();
        out.int16(1).int32(value.length).bytes(value);
        var columns = new Columns(List.of(new ColumnDescription("v", 0, 0, oid, 0, -1, 1)), new Decoder[] {decoder});
        try {
            Row.of(columns, java.util.Arrays.copyOf(out.array(), out.size())).get(0);
            return true;
        } catch (PostgresException e) {
            return false;
        }
    }
}
