package io.github.trunkline.type;

import io.github.trunkline.ValueException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;

/** Checks of codecs, and the error messages for what they refuse. */
final class Check {
    private Check() {}

    /** Values of fixed size have that size. */
    static void length(String type, int wanted, int length) {
        if (length != wanted) {
            throw new ValueException("a value of type " + type + " has " + length + " bytes, not " + wanted);
        }
    }

    static void atLeast(String type, int wanted, int length) {
        if (length < wanted) {
            throw new ValueException("a value of type " + type + " has " + length + " bytes, fewer than " + wanted);
        }
    }

    /** Texts are UTF-8, from the first byte to the last. */
    static void utf8(byte[] bytes, int at, int length) {
        ByteBuffer in = ByteBuffer.wrap(bytes, at, length);
        CoderResult result = StandardCharsets.UTF_8.newDecoder().decode(in, CharBuffer.allocate(length), true);
        if (result.isError()) {
            throw new ValueException("a text is no UTF-8 from byte " + (in.position() - at) + " of " + length
                    + " on; getRaw gives its bytes");
        }
    }

    static ValueException cannotHold(String type, Object value) {
        return new ValueException("a parameter of type " + type + " cannot be a " + value.getClass().getName());
    }

    static ValueException notText(String type, String text) {
        String shown = text.length() > 60 ? text.substring(0, 60) + "..." : text;
        return new ValueException("not a value of type " + type + " in a format that is understood: " + shown);
    }
}
