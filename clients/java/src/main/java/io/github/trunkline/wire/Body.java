package io.github.trunkline.wire;

import io.github.trunkline.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A message's body, read from front to back. Nothing is read beyond its end, whatever the server counted. */
final class Body {
    private final String message;
    private final byte[] bytes;
    private final int start;
    private final int end;
    private int at;

    Body(String message, byte[] bytes, int start, int end) {
        this.message = message;
        this.bytes = bytes;
        this.start = start;
        this.end = end;
        this.at = start;
    }

    int remaining() {
        return end - at;
    }

    byte int8() {
        need(1);
        return bytes[at++];
    }

    int uint16() {
        need(2);
        int value = Bytes.uint16(bytes, at);
        at += 2;
        return value;
    }

    int int32() {
        need(4);
        int value = Bytes.int32(bytes, at);
        at += 4;
        return value;
    }

    byte[] bytes(int count) {
        need(count);
        at += count;
        return Arrays.copyOfRange(bytes, at - count, at);
    }

    byte[] rest() {
        return bytes(remaining());
    }

    /** A value with its length before it; -1 is NULL. */
    byte[] value() {
        int length = int32();
        if (length == -1) {
            return null;
        }
        if (length < 0) {
            throw wrong("a value has length " + length);
        }
        return bytes(length);
    }

    /** A text that ends with a zero byte. */
    String text() {
        for (int i = at; i < end; i++) {
            if (bytes[i] == 0) {
                String text = decode(at, i);
                at = i + 1;
                return text;
            }
        }
        throw wrong("a string has no end");
    }

    private String decode(int from, int to) {
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes, from, to - from)).toString();
        } catch (CharacterCodingException e) {
            // Before login the server sends its messages in an encoding of its own: better a few wrong
            // characters than no reason at all.
            return new String(bytes, from, to - from, StandardCharsets.UTF_8);
        }
    }

    void end() {
        if (at != end) {
            throw wrong((end - at) + " bytes are left over");
        }
    }

    ProtocolException wrong(String what) {
        return new ProtocolException("the server sent a broken " + message + ": " + what + ", at byte " + (at - start)
                + " of " + (end - start));
    }

    private void need(int count) {
        if (count > end - at) {
            throw wrong("it ends too early");
        }
    }
}
