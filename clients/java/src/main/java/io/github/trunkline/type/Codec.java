package io.github.trunkline.type;

import io.github.trunkline.ValueException;
import java.nio.charset.StandardCharsets;
import java.util.function.Function;

/**
 * How values of one PostgreSQL type become Java objects and back.
 *
 * @param name the type's name, for messages
 * @param binary reads the binary format; null if the type has none, or this client does not understand it
 * @param text reads the text format
 * @param encoder writes the binary format; null to send {@link Object#toString} in text format
 */
public record Codec(String name, Decoder binary, Decoder text, Encoder encoder) {
    /** A codec whose text format is read from a String. */
    public static Codec of(String name, Decoder binary, Function<String, Object> text, Encoder encoder) {
        return new Codec(name, binary, (bytes, at, length) -> text.apply(utf8(bytes, at, length)), encoder);
    }

    /** A codec for a type whose text alone is understood; parameters are sent as {@code toString} says. */
    public static Codec textOnly(String name, Function<String, Object> text) {
        return of(name, null, text, null);
    }

    /** This codec, without the formats for which the type has no function: as pg_type says. */
    Codec within(boolean sends, boolean receives) {
        return sends && receives ? this : new Codec(name, sends ? binary : null, text, receives ? encoder : null);
    }

    /**
     * A text from its bytes.
     *
     * @throws ValueException if they are not valid UTF-8; only a server whose database is in SQL_ASCII sends such bytes
     */
    static String utf8(byte[] bytes, int at, int length) {
        String text = new String(bytes, at, length, StandardCharsets.UTF_8);
        // Java replaces invalid bytes by this character, which is rare in valid texts.
        if (text.indexOf('\ufffd') >= 0) {
            Check.utf8(bytes, at, length);
        }
        return text;
    }
}
