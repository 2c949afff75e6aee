package io.github.trunkline.type;

import io.github.trunkline.ValueException;
import io.github.trunkline.wire.Bytes;
import io.github.trunkline.wire.Out;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Types of extensions, whose object ids differ from database to database: found by name. */
final class ExtensionTypes {
    /** hstore: a Map of Strings, whose values may be null. */
    static final Codec HSTORE = Codec.of("hstore", ExtensionTypes::hstore, ExtensionTypes::hstoreText,
            ExtensionTypes::hstore);
    /** pgvector's vector: a float[]. */
    static final Codec VECTOR = Codec.of("vector", ExtensionTypes::vector, ExtensionTypes::vectorText,
            ExtensionTypes::vector);

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
                pair[j] = size < 0 ? null : new String(bytes, at + 4, size, StandardCharsets.UTF_8);
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
        if (value instanceof float[] floats) {
            out.int16(floats.length).int16(0);
            for (float number : floats) {
                out.float32(number);
            }
        } else if (value instanceof List<?> list) {
            out.int16(list.size()).int16(0);
            list.forEach(number -> out.float32(((Number) number).floatValue()));
        } else {
            throw Check.cannotHold("vector", value);
        }
    }
}
