package io.github.trunkline.type;

import io.github.trunkline.ValueException;
import io.github.trunkline.wire.Bytes;
import io.github.trunkline.wire.Out;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Types of extensions, whose object ids differ from database to database: found by name. {@code citext} is a text. */
final class ExtensionTypes {
    /** hstore: a Map of Strings, whose values may be null. */
    static final Codec HSTORE = Codec.of("hstore", ExtensionTypes::hstore, ExtensionTypes::hstoreText,
            ExtensionTypes::hstore);
    /** pgvector's vector: a float[]. */
    static final Codec VECTOR = Codec.of("vector", ExtensionTypes::vector, ExtensionTypes::vectorText,
            ExtensionTypes::vector);
    /** pgvector's halfvec: a float[] too, of which the server keeps 16 bits each. */
    static final Codec HALF_VECTOR = Codec.of("halfvec", ExtensionTypes::halfVector, ExtensionTypes::vectorText,
            ExtensionTypes::halfVector);

    private ExtensionTypes() {}

    private static Object hstore(byte[] bytes, int at, int length) {
        Check.atLeast("hstore", 4, length);
        int end = at + length;
        int count = Bytes.int32(bytes, at);
        if (count < 0 || count > length / 8) {
            throw new ValueException("an hstore says it has " + count + " pairs");
        }
        at += 4;
        var map = new LinkedHashMap<String, String>();
        for (int i = 0; i < count; i++) {
            var pair = new String[2];
            for (int j = 0; j < 2; j++) {
                int size = end - at < 4 ? -2 : Bytes.int32(bytes, at);
                if (size < j * -1 || size > end - at - 4) {
                    throw new ValueException("a text in an hstore has length " + size);
                }
                pair[j] = size < 0 ? null : Codec.utf8(bytes, at + 4, size);
                at += 4 + Math.max(size, 0);
            }
            map.put(pair[0], pair[1]);
        }
        return Collections.unmodifiableMap(map);
    }

    private static Object hstoreText(String text) {
        var parser = new TextParser("hstore", text, 0);
        var map = new LinkedHashMap<String, String>();
        while (parser.peek() != 0) {
            String key = parser.word('=');
            parser.expect('=');
            parser.expect('>');
            boolean quoted = parser.peek() == '"';
            String value = parser.word(',');
            map.put(key, quoted || !value.equals("NULL") ? value : null);
            if (parser.take(',')) {
                parser.take(' ');
            }
        }
        return Collections.unmodifiableMap(map);
    }

    private static void hstore(Object value, Out out) {
        if (!(value instanceof Map<?, ?> map)) {
            throw Check.cannotHold("hstore", value);
        }
        out.int32(map.size());
        map.forEach((key, text) -> {
            int mark = out.openLength();
            out.text(key.toString());
            out.patchLength(mark);
            if (text == null) {
                out.int32(-1);
            } else {
                mark = out.openLength();
                out.text(text.toString());
                out.patchLength(mark);
            }
        });
    }

    private static Object vector(byte[] bytes, int at, int length) {
        Check.atLeast("vector", 4, length);
        int count = Bytes.uint16(bytes, at);
        Check.length("vector", 4 + 4 * count, length);
        var vector = new float[count];
        for (int i = 0; i < count; i++) {
            vector[i] = Float.intBitsToFloat(Bytes.int32(bytes, at + 4 + 4 * i));
        }
        return vector;
    }

    private static Object vectorText(String text) {
        if (text.length() < 2) {
            throw Check.notText("vector", text);
        }
        String[] words = text.substring(1, text.length() - 1).split(",");
        var vector = new float[words.length];
        try {
            for (int i = 0; i < words.length; i++) {
                vector[i] = Float.parseFloat(words[i]);
            }
        } catch (NumberFormatException e) {
            throw Check.notText("vector", text);
        }
        return vector;
    }

    private static void vector(Object value, Out out) {
        float[] floats = floats("vector", value);
        out.int16(floats.length).int16(0);
        for (float number : floats) {
            out.float32(number);
        }
    }

    private static float[] floats(String type, Object value) {
        if (value instanceof float[] floats) {
            return floats;
        }
        if (!(value instanceof List<?> list)) {
            throw Check.cannotHold(type, value);
        }
        var floats = new float[list.size()];
        for (int i = 0; i < floats.length; i++) {
            floats[i] = ((Number) list.get(i)).floatValue();
        }
        return floats;
    }

    private static Object halfVector(byte[] bytes, int at, int length) {
        Check.atLeast("halfvec", 4, length);
        int count = Bytes.uint16(bytes, at);
        Check.length("halfvec", 4 + 2 * count, length);
        var vector = new float[count];
        for (int i = 0; i < count; i++) {
            vector[i] = ofHalf(Bytes.uint16(bytes, at + 4 + 2 * i));
        }
        return vector;
    }

    private static void halfVector(Object value, Out out) {
        float[] floats = floats("halfvec", value);
        out.int16(floats.length).int16(0);
        for (float number : floats) {
            out.int16(toHalf(number));
        }
    }

    /** IEEE 754's binary16: a sign, five bits of exponent, ten of fraction. Java has this from 20 on. */
    private static float ofHalf(int half) {
        int sign = (half & 0x8000) << 16;
        int exponent = half >> 10 & 0x1f;
        int fraction = half & 0x3ff;
        if (exponent == 0) {
            float tiny = fraction * 0x1p-24f;
            return sign == 0 ? tiny : -tiny;
        }
        int wide = exponent == 0x1f ? 0xff : exponent + 112;
        return Float.intBitsToFloat(sign | wide << 23 | fraction << 13);
    }

    /** The nearest binary16 number; the even one of two that are equally near. */
    private static int toHalf(float number) {
        int sign = Float.floatToRawIntBits(number) >>> 16 & 0x8000;
        float size = Math.abs(number);
        if (Float.isNaN(size)) {
            return sign | 0x7e00;
        }
        if (size >= 65_520) {
            return sign | 0x7c00;
        }
        if (size < 0x1p-14f) {
            return sign | (int) Math.rint(size * 0x1p24f);
        }
        int exponent = Math.getExponent(size);
        int fraction = (int) Math.rint((Math.scalb(size, -exponent) - 1) * 1024);
        // A fraction that was rounded up to 1024 carries into the exponent.
        return sign | (exponent + 15 << 10) + fraction;
    }
}
