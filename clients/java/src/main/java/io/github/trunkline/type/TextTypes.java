package io.github.trunkline.type;

import io.github.trunkline.ValueException;
import io.github.trunkline.wire.Out;
import java.time.temporal.TemporalAccessor;
import java.util.HexFormat;
import java.util.UUID;

/** text and its kin, "char", bool, bytea, uuid, bit strings. */
final class TextTypes {
    private TextTypes() {}

    private static final class Utf8 implements Decoder {
        @Override
        public Object decode(byte[] bytes, int at, int length) {
            return Codec.utf8(bytes, at, length);
        }

        @Override
        public String decodeString(byte[] bytes, int at, int length) {
            return Codec.utf8(bytes, at, length);
        }

        @Override
        public boolean decodeBoolean(byte[] bytes, int at, int length) {
            throw new ValueException("a text is no boolean");
        }
    }

    static final Decoder UTF8 = new Utf8();
    static final Codec BOOL = new Codec("bool", new Bool(), new BoolText(), TextTypes::bool);
    static final Codec BYTEA = Codec.of("bytea", (bytes, at, length) -> java.util.Arrays.copyOfRange(bytes, at, at + length),
            TextTypes::byteaText, TextTypes::bytea);
    static final Codec UUID = new Codec("uuid", TextTypes::uuid, TextTypes::uuidText, TextTypes::uuid);
    static final Codec BIT = bits("bit");
    static final Codec VARBIT = bits("varbit");

    /** A type whose binary format is its text. */
    static Codec text(String name) {
        return new Codec(name, UTF8, UTF8, (value, out) -> out.text(asText(name, value)));
    }

    private static String asText(String type, Object value) {
        if (value instanceof CharSequence || value instanceof Character || value instanceof Number
                || value instanceof Boolean || value instanceof UUID || value instanceof TemporalAccessor) {
            return value.toString();
        }
        if (value instanceof Enum<?> constant) {
            return constant.name();
        }
        throw Check.cannotHold(type, value);
    }

    private static void bool(Object value, Out out) {
        if (!(value instanceof Boolean truth)) {
            throw Check.cannotHold("bool", value);
        }
        out.int8(truth ? 1 : 0);
    }

    private static void bytea(Object value, Out out) {
        if (value instanceof byte[] bytes) {
            out.bytes(bytes);
        } else if (value instanceof java.nio.ByteBuffer buffer) {
            var bytes = new byte[buffer.remaining()];
            buffer.duplicate().get(bytes);
            out.bytes(bytes);
        } else {
            throw Check.cannotHold("bytea", value);
        }
    }

    private static Object byteaText(String text) {
        if (text.startsWith("\\x")) {
            return HexFormat.of().parseHex(text, 2, text.length());
        }
        // bytea_output = escape
        var bytes = new java.io.ByteArrayOutputStream(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c != '\\') {
                bytes.write(c);
            } else if (text.startsWith("\\\\", i)) {
                bytes.write('\\');
                i++;
            } else if (i + 4 <= text.length()) {
                bytes.write(Integer.parseInt(text, i + 1, i + 4, 8));
                i += 3;
            } else {
                throw Check.notText("bytea", text);
            }
        }
        return bytes.toByteArray();
    }

    private static Object uuid(byte[] bytes, int at, int length) {
        Check.length("uuid", 16, length);
        return new UUID(io.github.trunkline.wire.Bytes.int64(bytes, at), io.github.trunkline.wire.Bytes.int64(bytes, at + 8));
    }

    /** Eight, four, four, four and twelve hexadecimal digits. */
    private static Object uuidText(byte[] bytes, int at, int length) {
        if (length != 36 || bytes[at + 8] != '-' || bytes[at + 13] != '-' || bytes[at + 18] != '-' || bytes[at + 23] != '-') {
            throw Check.notText("uuid", Codec.utf8(bytes, at, length));
        }
        long most = hex(bytes, at, 8) << 32 | hex(bytes, at + 9, 4) << 16 | hex(bytes, at + 14, 4);
        long least = hex(bytes, at + 19, 4) << 48 | hex(bytes, at + 24, 12);
        return new UUID(most, least);
    }

    private static long hex(byte[] bytes, int at, int count) {
        long value = 0;
        for (int i = at; i < at + count; i++) {
            // Throws for any other character.
            value = value << 4 | HexFormat.fromHexDigit(bytes[i] & 0xff);
        }
        return value;
    }

    private static void uuid(Object value, Out out) {
        if (!(value instanceof UUID uuid)) {
            throw Check.cannotHold("uuid", value);
        }
        out.int64(uuid.getMostSignificantBits()).int64(uuid.getLeastSignificantBits());
    }

    /** A String of 0s and 1s. */
    private static Codec bits(String name) {
        return new Codec(name, (bytes, at, length) -> {
            Check.atLeast(name, 4, length);
            int count = io.github.trunkline.wire.Bytes.int32(bytes, at);
            if (count < 0 || (count + 7L) / 8 != length - 4) {
                throw new ValueException("a " + name + " of " + count + " bits has " + length + " bytes");
            }
            var text = new StringBuilder(count);
            for (int i = 0; i < count; i++) {
                text.append((bytes[at + 4 + i / 8] >> (7 - i % 8) & 1) == 0 ? '0' : '1');
            }
            return text.toString();
        }, UTF8, (value, out) -> encodeBits(name, value, out));
    }

    private static void encodeBits(String name, Object value, Out out) {
        if (!(value instanceof CharSequence text)) {
            throw Check.cannotHold(name, value);
        }
        var bytes = new byte[(text.length() + 7) / 8];
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) != '0' && text.charAt(i) != '1') {
                throw Check.notText(name, text.toString());
            }
            bytes[i / 8] |= (byte) (text.charAt(i) - '0' << 7 - i % 8);
        }
        out.int32(text.length()).bytes(bytes);
    }

    private static final class Bool implements Decoder {
        @Override
        public Object decode(byte[] bytes, int at, int length) {
            return decodeBoolean(bytes, at, length);
        }

        @Override
        public boolean decodeBoolean(byte[] bytes, int at, int length) {
            Check.length("bool", 1, length);
            return bytes[at] != 0;
        }
    }

    private static final class BoolText implements Decoder {
        @Override
        public Object decode(byte[] bytes, int at, int length) {
            return decodeBoolean(bytes, at, length);
        }

        @Override
        public boolean decodeBoolean(byte[] bytes, int at, int length) {
            if (length != 1 || bytes[at] != 't' && bytes[at] != 'f') {
                throw Check.notText("bool", Codec.utf8(bytes, at, length));
            }
            return bytes[at] == 't';
        }
    }
}
