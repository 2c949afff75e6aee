package io.github.trunkline.type;

import io.github.trunkline.ValueException;
import java.nio.charset.StandardCharsets;

/** json and jsonb: Strings, or what a {@link JsonCodec} makes of them. jsonb in binary has a version, 1, before its text. */
final class JsonType {
    private JsonType() {}

    static Codec json(JsonCodec codec) {
        Decoder decoder = decoder(codec);
        return new Codec("json", decoder, decoder, (value, out) -> out.bytes(write(codec, "json", value)));
    }

    static Codec jsonb(JsonCodec codec) {
        Decoder decoder = decoder(codec);
        return new Codec("jsonb", new Versioned(decoder), decoder,
                (value, out) -> out.int8(1).bytes(write(codec, "jsonb", value)));
    }

    private static Decoder decoder(JsonCodec codec) {
        return codec == null ? TextTypes.UTF8 : new Plugged(codec);
    }

    private static byte[] write(JsonCodec codec, String type, Object value) {
        if (codec == null && value instanceof CharSequence) {
            // A document within an array.
            return value.toString().getBytes(StandardCharsets.UTF_8);
        }
        if (codec == null) {
            throw new ValueException("a parameter of type " + type + " must be a String unless a JSON codec is set, not a "
                    + value.getClass().getName());
        }
        try {
            return codec.write(value);
        } catch (Exception e) {
            throw new ValueException("the JSON codec failed to write a " + value.getClass().getName(), e);
        }
    }

    private record Plugged(JsonCodec codec) implements Decoder {
        @Override
        public Object decode(byte[] bytes, int at, int length) {
            try {
                return codec.read(bytes, at, length);
            } catch (Exception e) {
                throw new ValueException("the JSON codec failed to read a document of " + length + " bytes", e);
            }
        }

        /** The document as it came. */
        @Override
        public String decodeString(byte[] bytes, int at, int length) {
            return Codec.utf8(bytes, at, length);
        }
    }

    private record Versioned(Decoder decoder) implements Decoder {
        @Override
        public Object decode(byte[] bytes, int at, int length) {
            check(bytes, at, length);
            return decoder.decode(bytes, at + 1, length - 1);
        }

        @Override
        public String decodeString(byte[] bytes, int at, int length) {
            check(bytes, at, length);
            return decoder.decodeString(bytes, at + 1, length - 1);
        }

        private static void check(byte[] bytes, int at, int length) {
            if (length < 1 || bytes[at] != 1) {
                throw new ValueException("a jsonb is not of version 1, the only one that is understood");
            }
        }
    }
}
