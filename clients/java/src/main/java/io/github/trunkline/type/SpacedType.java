package io.github.trunkline.type;

import io.github.trunkline.wire.Out;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;

/** int2vector and oidvector: arrays in binary, counted from 0; numbers with spaces between them in text. */
final class SpacedType {
    private SpacedType() {}

    static Codec of(String name, Codec element, int elementOid) {
        Codec array = ArrayType.of(name, element, elementOid, ' ');
        return Codec.of(name, array.binary(), text -> parse(element, text),
                (value, out) -> encode(name, element, elementOid, value, out));
    }

    private static List<Object> parse(Codec element, String text) {
        var list = new ArrayList<Object>();
        for (String word : text.isEmpty() ? new String[0] : text.split(" ")) {
            byte[] bytes = word.getBytes(StandardCharsets.UTF_8);
            list.add(element.text().decode(bytes, 0, bytes.length));
        }
        return Collections.unmodifiableList(list);
    }

    private static void encode(String name, Codec element, int elementOid, Object value, Out out) {
        if (!(value instanceof Collection<?> list)) {
            throw Check.cannotHold(name, value);
        }
        out.int32(1).int32(0).int32(elementOid).int32(list.size()).int32(0);
        for (Object item : list) {
            int mark = out.openLength();
            Types.encodeNested(element, item, out);
            out.patchLength(mark);
        }
    }
}
