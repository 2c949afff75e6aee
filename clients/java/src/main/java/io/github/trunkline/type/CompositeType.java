package io.github.trunkline.type;

import io.github.trunkline.ValueException;
import io.github.trunkline.wire.Bytes;
import io.github.trunkline.wire.Out;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;

/** Composite types, and {@code record}, whose values name the types of their fields. */
final class CompositeType {
    private final String name;
    private final List<String> names;
    private final int[] oids;
    private final IntFunction<Codec> codecs;
    /** Called when a value shows that the type was altered. */
    private final Runnable altered;

    private CompositeType(String name, List<String> names, int[] oids, IntFunction<Codec> codecs, Runnable altered) {
        this.name = name;
        this.names = names;
        this.oids = oids;
        this.codecs = codecs;
        this.altered = altered;
    }

    /** A composite type whose fields are known. Binary only if all fields have binary formats: record_send demands it. */
    static Codec of(String name, List<String> names, int[] oids, Types types) {
        IntFunction<Codec> codecs = types::codec;
        var type = new CompositeType(name, names, oids, codecs, types::forgetLearned);
        boolean binary = true;
        boolean encodes = true;
        for (int oid : oids) {
            Codec codec = codecs.apply(oid);
            binary &= codec != null && codec.binary() != null;
            encodes &= codec != null && codec.encoder() != null;
        }
        return Codec.of(name, binary ? type::decode : null, type::parse, encodes ? type::encode : null);
    }

    /** The type record. In text its fields are Strings, since a text does not name their types. */
    static Codec record(IntFunction<Codec> codecs) {
        var type = new CompositeType("record", List.of(), null, codecs, () -> {});
        return Codec.of("record", type::decode, type::parse, null);
    }

    private Object decode(byte[] bytes, int at, int length) {
        Check.atLeast(name, 4, length);
        int end = at + length;
        int count = Bytes.int32(bytes, at);
        if (count < 0 || count > length / 8) {
            throw new ValueException("a value of type " + name + " says it has " + count + " fields");
        }
        checkCount(count);
        at += 4;
        var values = new ArrayList<Object>(count);
        for (int i = 0; i < count; i++) {
            int size = end - at < 8 ? -2 : Bytes.int32(bytes, at + 4);
            if (size < -1 || size > end - at - 8) {
                throw new ValueException("field " + i + " of a value of type " + name + " has length " + size);
            }
            values.add(size == -1 ? null : field(Bytes.int32(bytes, at), bytes, at + 8, size));
            at += 8 + Math.max(size, 0);
        }
        return new Composite(names, values);
    }

    private void checkCount(int count) {
        if (oids != null && count != oids.length) {
            altered.run();
            throw new ValueException("a value of type " + name + " has " + count + " fields, and the type had " + oids.length
                    + " when it was looked up: it is looked up again when the statement runs next");
        }
    }

    private Object field(int oid, byte[] bytes, int at, int length) {
        Codec codec = codecs.apply(oid);
        if (codec == null || codec.binary() == null) {
            return java.util.Arrays.copyOfRange(bytes, at, at + length);
        }
        return codec.binary().decode(bytes, at, length);
    }

    private Object parse(String text) {
        var parser = new TextParser(name, text, 0);
        parser.expect('(');
        var values = new ArrayList<Object>();
        if (!(parser.peek() == ')' && oids != null && oids.length == 0)) {
            do {
                // An empty field is NULL; an empty text is "".
                if (parser.peek() == ',' || parser.peek() == ')') {
                    values.add(null);
                } else {
                    values.add(parsed(values.size(), parser.word(',', ')')));
                }
            } while (parser.take(','));
        }
        parser.expect(')');
        parser.end();
        checkCount(values.size());
        return new Composite(names, values);
    }

    private Object parsed(int index, String word) {
        Codec codec = oids == null || index >= oids.length ? null : codecs.apply(oids[index]);
        byte[] bytes = word.getBytes(StandardCharsets.UTF_8);
        return codec == null ? word : codec.text().decode(bytes, 0, bytes.length);
    }

    private void encode(Object value, Out out) {
        List<?> values;
        if (value instanceof Composite composite) {
            values = composite.values();
        } else if (value instanceof List<?> list) {
            values = list;
        } else if (value instanceof Map<?, ?> map) {
            for (Object key : map.keySet()) {
                if (!names.contains(key)) {
                    // If this were ignored, a mistyped name would become a NULL.
                    throw new ValueException("a parameter of type " + name + " has no field " + key + "; it has " + names);
                }
            }
            var ordered = new ArrayList<Object>();
            names.forEach(field -> ordered.add(map.get(field)));
            values = ordered;
        } else {
            throw Check.cannotHold(name, value);
        }
        if (values.size() != oids.length) {
            throw new ValueException("a parameter of type " + name + " has " + values.size() + " fields, not "
                    + oids.length);
        }
        out.int32(oids.length);
        for (int i = 0; i < oids.length; i++) {
            out.int32(oids[i]);
            if (values.get(i) == null) {
                out.int32(-1);
                continue;
            }
            int mark = out.openLength();
            Types.encodeNested(codecs.apply(oids[i]), values.get(i), out);
            out.patchLength(mark);
        }
    }
}
