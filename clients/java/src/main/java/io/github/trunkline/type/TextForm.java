package io.github.trunkline.type;

import io.github.trunkline.ValueException;
import io.github.trunkline.wire.Out;
import java.lang.reflect.Array;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.Period;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Writes values as texts that PostgreSQL parses: for types without an encoder, alone or in arrays and composites, and for COPY
 * in text.
 */
public final class TextForm {
    private TextForm() {}

    /**
     * The text of a value that is not null.
     *
     * @param codec its type's; null if that is unknown
     * @throws ValueException if there is no text for objects of its class
     */
    public static String of(Codec codec, Object value) {
        if (value instanceof String text) {
            return text;
        }
        String type = codec == null ? "" : codec.name();
        if (type.equals("json") || type.equals("jsonb")) {
            return json(codec, value);
        }
        if (type.equals("hstore") && value instanceof Map<?, ?> map) {
            return map.entrySet().stream().map(e -> quoted(e.getKey().toString()) + "=>"
                    + (e.getValue() == null ? "NULL" : quoted(e.getValue().toString()))).collect(Collectors.joining(","));
        }
        List<Object> items = items(value);
        if (items != null && (type.equals("vector") || type.equals("halfvec"))) {
            return items.stream().map(Object::toString).collect(Collectors.joining(",", "[", "]"));
        }
        if (items != null && type.endsWith("multirange")) {
            return items.stream().map(TextForm::plain).collect(Collectors.joining(",", "{", "}"));
        }
        return plain(value);
    }

    private static String plain(Object value) {
        List<Object> items = items(value);
        if (items != null) {
            return array(items);
        }
        if (value instanceof Composite composite) {
            return composite.values().stream().map(field -> field == null ? "" : quoted(plain(field)))
                    .collect(Collectors.joining(",", "(", ")"));
        }
        if (value instanceof Range range) {
            return range.isEmpty() ? "empty" : (range.lowerIncluded() ? "[" : "(") + bound(range.lower()) + ","
                    + bound(range.upper()) + (range.upperIncluded() ? "]" : ")");
        }
        if (value instanceof byte[] bytes) {
            return "\\x" + HexFormat.of().formatHex(bytes);
        }
        if (value instanceof ByteBuffer buffer) {
            var bytes = new byte[buffer.remaining()];
            buffer.duplicate().get(bytes);
            return plain(bytes);
        }
        if (value instanceof Map) {
            throw new ValueException("a " + value.getClass().getName() + " has no text that PostgreSQL reads");
        }
        return value instanceof Enum<?> constant ? constant.name()
                : value instanceof InetAddress address ? address.getHostAddress() : time(value);
    }

    /** Times, since java.time writes infinity and years before 1 differently; {@code toString} for everything else. */
    private static String time(Object value) {
        if (value instanceof Instant instant) {
            return instant.equals(Instant.MAX) ? "infinity" : instant.equals(Instant.MIN) ? "-infinity"
                    : dateTime(LocalDateTime.ofInstant(instant, ZoneOffset.UTC), "+00");
        }
        if (value instanceof OffsetDateTime given) {
            return given.equals(OffsetDateTime.MAX) ? "infinity" : given.equals(OffsetDateTime.MIN) ? "-infinity"
                    : time(given.toInstant());
        }
        if (value instanceof ZonedDateTime given) {
            return time(given.toInstant());
        }
        if (value instanceof java.util.Date given) {
            return time(TimeTypes.instantOf(given));
        }
        if (value instanceof LocalDateTime given) {
            return given.equals(LocalDateTime.MAX) ? "infinity" : given.equals(LocalDateTime.MIN) ? "-infinity"
                    : dateTime(given, "");
        }
        if (value instanceof LocalDate given) {
            return given.equals(LocalDate.MAX) ? "infinity" : given.equals(LocalDate.MIN) ? "-infinity"
                    : date(given) + era(given);
        }
        if (value instanceof LocalTime given) {
            return given.equals(LocalTime.MAX) ? "24:00:00" : given.toString();
        }
        return value instanceof Duration given ? Interval.of(given).toString()
                : value instanceof Period given ? Interval.of(given).toString() : value.toString();
    }

    private static String dateTime(LocalDateTime value, String offset) {
        return date(value.toLocalDate()) + " " + value.toLocalTime() + offset + era(value.toLocalDate());
    }

    private static String date(LocalDate date) {
        int year = date.getYear() <= 0 ? 1 - date.getYear() : date.getYear();
        return String.format("%04d-%02d-%02d", year, date.getMonthValue(), date.getDayOfMonth());
    }

    private static String era(LocalDate date) {
        return date.getYear() <= 0 ? " BC" : "";
    }

    private static String json(Codec codec, Object value) {
        var out = new Out();
        codec.encoder().encode(value, out);
        int version = codec.name().equals("jsonb") ? 1 : 0;
        return new String(out.array(), version, out.size() - version, StandardCharsets.UTF_8);
    }

    private static String bound(Object bound) {
        return bound == null ? "" : quoted(plain(bound));
    }

    private static String array(List<Object> items) {
        // pg_type.typdelim: a comma, but for box.
        String delimiter = items.stream().anyMatch(Geometry.Box.class::isInstance) ? ";" : ",";
        return items.stream().map(item -> item == null ? "NULL" : items(item) != null ? plain(item) : quoted(plain(item)))
                .collect(Collectors.joining(delimiter, "{", "}"));
    }

    private static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    /** What a Collection or a Java array holds; null if the value is neither. byte[] is a value of its own: bytea. */
    private static List<Object> items(Object value) {
        if (value instanceof Collection<?> collection) {
            return new ArrayList<>(collection);
        }
        if (value instanceof Object[] objects) {
            return Arrays.asList(objects);
        }
        if (value == null || !value.getClass().isArray() || value instanceof byte[]) {
            return null;
        }
        var boxed = new ArrayList<>(Array.getLength(value));
        for (int i = 0; i < Array.getLength(value); i++) {
            boxed.add(Array.get(value, i));
        }
        return boxed;
    }
}
