package io.github.trunkline.type;

import io.github.trunkline.ValueException;
import io.github.trunkline.wire.Bytes;
import io.github.trunkline.wire.Out;
import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;

/**
 * Arrays of any element: unmodifiable Lists, of Lists where there are several dimensions, null where an element is NULL.
 * Bounds that do not begin at 1 are not kept. Parameters may be Collections or Java arrays, nested evenly.
 */
final class ArrayType {
    /** PostgreSQL's MAXDIM. */
    private static final int DIMENSIONS_MAX = 6;

    private final String name;
    private final Codec element;
    private final int elementOid;
    private final char delimiter;

    private ArrayType(String name, Codec element, int elementOid, char delimiter) {
        this.name = name;
        this.element = element;
        this.elementOid = elementOid;
        this.delimiter = delimiter;
    }

    /** The codec of arrays of {@code element}; pg_type.typdelim separates elements in text (a comma, but for box). */
    static Codec of(String name, Codec element, int elementOid, char delimiter) {
        var type = new ArrayType(name, element, elementOid, delimiter);
        return Codec.of(name, element.binary() == null ? null : type::decode, type::parse,
                element.encoder() == null ? null : type::encode);
    }

    private Object decode(byte[] bytes, int at, int length) {
        Check.atLeast(name, 12, length);
        int end = at + length;
        int dimensions = Bytes.int32(bytes, at);
        if (dimensions < 0 || dimensions > DIMENSIONS_MAX) {
            throw new ValueException("a value of type " + name + " has " + dimensions + " dimensions");
        }
        if (dimensions == 0) {
            return List.of();
        }
        Check.atLeast(name, 12 + 8 * dimensions, length);
        var sizes = new int[dimensions];
        for (int i = 0; i < dimensions; i++) {
            sizes[i] = Bytes.int32(bytes, at + 12 + 8 * i);
        }
        var reader = new Elements(bytes, at + 12 + 8 * dimensions, end);
        Object list = reader.list(sizes, 0);
        if (reader.at != end) {
            throw new ValueException("a value of type " + name + " has " + (end - reader.at) + " bytes left over");
        }
        return list;
    }

    /** Reads elements one after the other, each with its length before it. */
    private final class Elements {
        private final byte[] bytes;
        private final int end;
        private int at;

        Elements(byte[] bytes, int at, int end) {
            this.bytes = bytes;
            this.at = at;
            this.end = end;
        }

        Object list(int[] sizes, int depth) {
            int size = sizes[depth];
            // Each element takes at least four bytes: a larger count is a lie, and must not allocate memory.
            if (size < 0 || size > (end - at) / 4) {
                throw new ValueException("a value of type " + name + " says it has " + size + " elements");
            }
            var values = new Object[size];
            for (int i = 0; i < size; i++) {
                values[i] = depth + 1 < sizes.length ? list(sizes, depth + 1) : next();
            }
            return Collections.unmodifiableList(Arrays.asList(values));
        }

        private Object next() {
            if (end - at < 4) {
                throw new ValueException("a value of type " + name + " ends too early");
            }
            int length = Bytes.int32(bytes, at);
            at += 4;
            if (length == -1) {
                return null;
            }
            if (length < 0 || length > end - at) {
                throw new ValueException("an element of type " + name + " has length " + length);
            }
            at += length;
            return element.binary().decode(bytes, at - length, length);
        }
    }

    private Object parse(String text) {
        // Bounds that do not begin at 1 stand before the braces: [0:2]={1,2,3}
        int brace = text.indexOf('{');
        if (brace < 0 || brace > 0 && text.charAt(brace - 1) != '=') {
            throw Check.notText(name, text);
        }
        var parser = new TextParser(name, text, brace);
        List<Object> list = elements(parser, 1);
        parser.end();
        return list;
    }

    private List<Object> elements(TextParser parser, int depth) {
        if (depth > DIMENSIONS_MAX) {
            throw new ValueException("a value of type " + name + " has more than 6 dimensions");
        }
        parser.expect('{');
        var list = new ArrayList<Object>();
        if (parser.take('}')) {
            return List.of();
        }
        do {
            if (parser.peek() == '{') {
                list.add(elements(parser, depth + 1));
            } else {
                boolean quoted = parser.peek() == '"';
                String word = parser.word(delimiter, '}');
                list.add(!quoted && word.equalsIgnoreCase("null") ? null : parseOne(word));
            }
        } while (parser.take(delimiter));
        parser.expect('}');
        return Collections.unmodifiableList(list);
    }

    private Object parseOne(String word) {
        byte[] bytes = word.getBytes(java.nio.charset.StandardCharsets.UTF_8);
        return element.text().decode(bytes, 0, bytes.length);
    }

    private void encode(Object value, Out out) {
        var sizes = new ArrayList<Integer>();
        for (Object level = value; isList(level) && sizes.size() <= DIMENSIONS_MAX; level = first(level)) {
            sizes.add(size(level));
        }
        if (sizes.isEmpty()) {
            throw Check.cannotHold(name, value);
        }
        if (sizes.size() > DIMENSIONS_MAX) {
            throw new ValueException("a parameter of type " + name + " has more than 6 dimensions");
        }
        if (sizes.contains(0)) {
            out.int32(0).int32(0).int32(elementOid);
            return;
        }
        out.int32(sizes.size());
        int nulls = out.size();
        out.int32(0).int32(elementOid);
        for (int size : sizes) {
            out.int32(size).int32(1);
        }
        boolean hasNull = encodeLevel(value, sizes, 0, out);
        Bytes.putInt32(out.array(), nulls, hasNull ? 1 : 0);
    }

    private boolean encodeLevel(Object level, List<Integer> sizes, int depth, Out out) {
        if (!isList(level) || size(level) != sizes.get(depth)) {
            throw new ValueException("a parameter of type " + name + " is not nested evenly");
        }
        boolean hasNull = false;
        for (Object item : items(level)) {
            if (depth + 1 < sizes.size()) {
                hasNull |= encodeLevel(item, sizes, depth + 1, out);
            } else if (item == null) {
                hasNull = true;
                out.int32(-1);
            } else {
                int mark = out.openLength();
                Types.encodeNested(element, item, out);
                out.patchLength(mark);
            }
        }
        return hasNull;
    }

    /** byte[] is a value of its own: bytea. */
    private static boolean isList(Object value) {
        return value instanceof Collection<?>
                || value != null && value.getClass().isArray() && !(value instanceof byte[]);
    }

    private static int size(Object list) {
        return list instanceof Collection<?> collection ? collection.size() : Array.getLength(list);
    }

    private static Object first(Object list) {
        return size(list) == 0 ? null : items(list).iterator().next();
    }

    private static Iterable<?> items(Object list) {
        if (list instanceof Collection<?> collection) {
            return collection;
        }
        if (list instanceof Object[] objects) {
            return Arrays.asList(objects);
        }
        var boxed = new ArrayList<Object>(Array.getLength(list));
        for (int i = 0; i < Array.getLength(list); i++) {
            boxed.add(Array.get(list, i));
        }
        return boxed;
    }
}
