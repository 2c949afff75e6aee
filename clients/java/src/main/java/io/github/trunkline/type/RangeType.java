package io.github.trunkline.type;

import io.github.trunkline.ValueException;
import io.github.trunkline.wire.Bytes;
import io.github.trunkline.wire.Out;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;

/** Ranges ({@link Range}) and multiranges (Lists of them) of any element. */
final class RangeType {
    private static final int EMPTY = 0x01;
    private static final int LOWER_INCLUDED = 0x02;
    private static final int UPPER_INCLUDED = 0x04;
    private static final int NO_LOWER = 0x08;
    private static final int NO_UPPER = 0x10;

    private final String name;
    private final Codec element;

    private RangeType(String name, Codec element) {
        this.name = name;
        this.element = element;
    }

    static Codec range(String name, Codec element) {
        var type = new RangeType(name, element);
        return Codec.of(name, element.binary() == null ? null : type::decode, text -> {
            var parser = new TextParser(name, text, 0);
            Range range = type.parse(parser);
            parser.end();
            return range;
        }, element.encoder() == null ? null : type::encode);
    }

    static Codec multirange(String name, Codec element) {
        var type = new RangeType(name, element);
        return Codec.of(name, element.binary() == null ? null : type::decodeMany, type::parseMany,
                element.encoder() == null ? null : type::encodeMany);
    }

    private Object decode(byte[] bytes, int at, int length) {
        Check.atLeast(name, 1, length);
        int flags = bytes[at];
        var bounds = new Object[2];
        int end = at + length;
        at++;
        boolean[] there = {(flags & (EMPTY | NO_LOWER)) == 0, (flags & (EMPTY | NO_UPPER)) == 0};
        for (int i = 0; i < 2; i++) {
            if (there[i]) {
                int size = end - at < 4 ? -1 : Bytes.int32(bytes, at);
                if (size < 0 || size > end - at - 4) {
                    throw new ValueException("a bound of a " + name + " has length " + size);
                }
                bounds[i] = element.binary().decode(bytes, at + 4, size);
                at += 4 + size;
            }
        }
        if (at != end) {
            throw new ValueException("a " + name + " has " + (end - at) + " bytes left over");
        }
        return (flags & EMPTY) != 0 ? Range.EMPTY : new Range(
                bounds[0], bounds[1], (flags & LOWER_INCLUDED) != 0, (flags & UPPER_INCLUDED) != 0, false);
    }

    private Object decodeMany(byte[] bytes, int at, int length) {
        Check.atLeast(name, 4, length);
        int end = at + length;
        int count = Bytes.int32(bytes, at);
        if (count < 0 || count > length / 5) {
            throw new ValueException("a " + name + " says it has " + count + " ranges");
        }
        at += 4;
        var list = new ArrayList<Object>(count);
        for (int i = 0; i < count; i++) {
            int size = end - at < 4 ? -1 : Bytes.int32(bytes, at);
            if (size < 0 || size > end - at - 4) {
                throw new ValueException("a range of a " + name + " has length " + size);
            }
            list.add(decode(bytes, at + 4, size));
            at += 4 + size;
        }
        return Collections.unmodifiableList(list);
    }

    private Range parse(TextParser parser) {
        if (parser.peek() == 'e') {
            if (!parser.word(',', '}').equals("empty")) {
                throw parser.wrong();
            }
            return Range.EMPTY;
        }
        char open = parser.next();
        Object lower = bound(parser, ',');
        parser.expect(',');
        Object upper = bound(parser, ']', ')');
        char close = parser.next();
        if (open != '[' && open != '(') {
            throw parser.wrong();
        }
        return new Range(lower, upper, open == '[', close == ']', false);
    }

    private Object bound(TextParser parser, char... ends) {
        for (char end : ends) {
            if (parser.peek() == end) {
                return null;
            }
        }
        byte[] word = parser.word(ends).getBytes(StandardCharsets.UTF_8);
        return element.text().decode(word, 0, word.length);
    }

    private Object parseMany(String text) {
        var parser = new TextParser(name, text, 0);
        parser.expect('{');
        var list = new ArrayList<Object>();
        if (!parser.take('}')) {
            do {
                list.add(parse(parser));
            } while (parser.take(','));
            parser.expect('}');
        }
        parser.end();
        return Collections.unmodifiableList(list);
    }

    private void encode(Object value, Out out) {
        if (!(value instanceof Range range)) {
            throw Check.cannotHold(name, value);
        }
        if (range.isEmpty()) {
            out.int8(EMPTY);
            return;
        }
        out.int8((range.lowerIncluded() ? LOWER_INCLUDED : 0) | (range.upperIncluded() ? UPPER_INCLUDED : 0)
                | (range.lower() == null ? NO_LOWER : 0) | (range.upper() == null ? NO_UPPER : 0));
        for (Object bound : new Object[] {range.lower(), range.upper()}) {
            if (bound != null) {
                int mark = out.openLength();
                Types.encodeNested(element, bound, out);
                out.patchLength(mark);
            }
        }
    }

    private void encodeMany(Object value, Out out) {
        if (!(value instanceof Collection<?> ranges)) {
            throw Check.cannotHold(name, value);
        }
        out.int32(ranges.size());
        for (Object range : List.copyOf(ranges)) {
            int mark = out.openLength();
            encode(range, out);
            out.patchLength(mark);
        }
    }
}
