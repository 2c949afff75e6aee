package io.github.trunkline.type;

import io.github.trunkline.ValueException;
import io.github.trunkline.wire.Bytes;
import io.github.trunkline.wire.Out;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;

/**
 * date, time, timetz, timestamp, timestamptz, interval. Binary formats count from 2000-01-01; infinity is
 * {@link Instant#MAX}, {@link LocalDateTime#MAX}, {@link LocalDate#MAX}, and their MIN.
 */
final class TimeTypes {
    /** 2000-01-01T00:00:00Z in seconds since 1970. */
    private static final long EPOCH_SECONDS = 946_684_800L;
    /** 2000-01-01 in days since 1970. */
    private static final long EPOCH_DAYS = 10_957;
    private static final long DAY_MICROSECONDS = 86_400_000_000L;

    static final Codec TIMESTAMPTZ = new Codec("timestamptz", TimeTypes::instant, TimeText::instant,
            (value, out) -> out.int64(fromInstant(value)));
    static final Codec TIMESTAMP = new Codec("timestamp", TimeTypes::dateTime, TimeText::dateTime,
            (value, out) -> out.int64(fromDateTime(value)));
    static final Codec DATE = new Codec("date", TimeTypes::date, TimeText::date, TimeTypes::date);
    static final Codec TIME = new Codec("time", TimeTypes::time, TimeText::time, TimeTypes::time);
    static final Codec TIMETZ = new Codec("timetz", TimeTypes::timeWithZone, TimeText::timeWithZone,
            TimeTypes::timeWithZone);
    static final Codec INTERVAL = Codec.of("interval", TimeTypes::interval, TimeText::interval, TimeTypes::interval);

    private TimeTypes() {}

    static Object instant(byte[] bytes, int at, int length) {
        Check.length("timestamptz", 8, length);
        long micros = Bytes.int64(bytes, at);
        if (micros == Long.MAX_VALUE) {
            return Instant.MAX;
        }
        if (micros == Long.MIN_VALUE) {
            return Instant.MIN;
        }
        long seconds = Math.floorDiv(micros, 1_000_000L);
        long rest = micros - seconds * 1_000_000;
        return rest == 0 ? Instant.ofEpochSecond(seconds + EPOCH_SECONDS)
                : Instant.ofEpochSecond(seconds + EPOCH_SECONDS, rest * 1000);
    }

    private static Object dateTime(byte[] bytes, int at, int length) {
        Check.length("timestamp", 8, length);
        long micros = Bytes.int64(bytes, at);
        if (micros == Long.MAX_VALUE) {
            return LocalDateTime.MAX;
        }
        if (micros == Long.MIN_VALUE) {
            return LocalDateTime.MIN;
        }
        // 2^63 microseconds are a number of years that java.time can hold.
        long days = Math.floorDiv(micros, DAY_MICROSECONDS);
        return LocalDateTime.of(day(days + EPOCH_DAYS), LocalTime.ofNanoOfDay((micros - days * DAY_MICROSECONDS) * 1000));
    }

    private static Object date(byte[] bytes, int at, int length) {
        Check.length("date", 4, length);
        int days = Bytes.int32(bytes, at);
        if (days == Integer.MAX_VALUE) {
            return LocalDate.MAX;
        }
        return days == Integer.MIN_VALUE ? LocalDate.MIN : day(days + EPOCH_DAYS);
    }

    /** Immutable, so that threads can share it without a lock. */
    private record Day(long days, LocalDate date) {}

    /**
     * The dates that were read last, one for each remainder by 4,096 (eleven years of days). Dates repeat, and computing one
     * takes six times as long as this lookup.
     */
    private static final Day[] DAYS = new Day[4096];

    /** @param days since 1970-01-01 */
    static LocalDate day(long days) {
        int index = (int) days & DAYS.length - 1;
        Day day = DAYS[index];
        if (day == null || day.days != days) {
            day = new Day(days, LocalDate.ofEpochDay(days));
            DAYS[index] = day;
        }
        return day.date;
    }

    private static Object time(byte[] bytes, int at, int length) {
        Check.length("time", 8, length);
        return ofMicros("time", Bytes.int64(bytes, at));
    }

    /** 24:00:00, which PostgreSQL has and LocalTime has not, is {@link LocalTime#MAX}. */
    private static LocalTime ofMicros(String type, long micros) {
        if (micros < 0 || micros > DAY_MICROSECONDS) {
            throw new ValueException("a " + type + " is " + micros + " microseconds after midnight");
        }
        return micros == DAY_MICROSECONDS ? LocalTime.MAX : LocalTime.ofNanoOfDay(micros * 1000);
    }

    private static Object timeWithZone(byte[] bytes, int at, int length) {
        Check.length("timetz", 12, length);
        int west = Bytes.int32(bytes, at + 8);
        if (Math.abs((long) west) > 18 * 3600) {
            throw new ValueException("a timetz is " + west + " seconds west of Greenwich");
        }
        return OffsetTime.of(ofMicros("timetz", Bytes.int64(bytes, at)), ZoneOffset.ofTotalSeconds(-west));
    }

    private static Object interval(byte[] bytes, int at, int length) {
        Check.length("interval", 16, length);
        return new Interval(Bytes.int32(bytes, at + 12), Bytes.int32(bytes, at + 8), Bytes.int64(bytes, at));
    }

    static long fromInstant(Object value) {
        Instant instant;
        if (value instanceof Instant given) {
            instant = given;
        } else if (value instanceof OffsetDateTime given) {
            instant = given.equals(OffsetDateTime.MAX) ? Instant.MAX
                    : given.equals(OffsetDateTime.MIN) ? Instant.MIN : given.toInstant();
        } else if (value instanceof ZonedDateTime given) {
            instant = given.toInstant();
        } else if (value instanceof java.util.Date given) {
            instant = instantOf(given);
        } else {
            throw Check.cannotHold("timestamptz", value);
        }
        if (instant.equals(Instant.MAX)) {
            return Long.MAX_VALUE;
        }
        return instant.equals(Instant.MIN) ? Long.MIN_VALUE
                : micros("timestamptz", instant.getEpochSecond(), instant.getNano());
    }

    /** A java.sql.Timestamp has microseconds too; the java.sql.Date and Time of Java's other module know no instant. */
    static Instant instantOf(java.util.Date date) {
        try {
            return date.toInstant();
        } catch (UnsupportedOperationException e) {
            return Instant.ofEpochMilli(date.getTime());
        }
    }

    /** The local time in the JVM's time zone, as in JDBC. */
    private static LocalDateTime localOf(java.util.Date date) {
        return LocalDateTime.ofInstant(instantOf(date), ZoneId.systemDefault());
    }

    private static long fromDateTime(Object value) {
        LocalDateTime dateTime = value instanceof java.util.Date date ? localOf(date)
                : value instanceof LocalDateTime given ? given : null;
        if (dateTime == null) {
            throw Check.cannotHold("timestamp", value);
        }
        if (dateTime.equals(LocalDateTime.MAX)) {
            return Long.MAX_VALUE;
        }
        return dateTime.equals(LocalDateTime.MIN) ? Long.MIN_VALUE
                : micros("timestamp", dateTime.toEpochSecond(ZoneOffset.UTC), dateTime.getNano());
    }

    /** Cuts off what is finer than a microsecond. */
    private static long micros(String type, long epochSecond, int nano) {
        try {
            return Math.addExact(Math.multiplyExact(epochSecond - EPOCH_SECONDS, 1_000_000L), nano / 1000);
        } catch (ArithmeticException e) {
            throw new ValueException("a parameter is beyond what " + type + " holds", e);
        }
    }

    private static void date(Object value, Out out) {
        LocalDate date = value instanceof java.util.Date given ? localOf(given).toLocalDate()
                : value instanceof LocalDate given ? given : null;
        if (date == null) {
            throw Check.cannotHold("date", value);
        }
        if (date.equals(LocalDate.MAX) || date.equals(LocalDate.MIN)) {
            out.int32(date.equals(LocalDate.MAX) ? Integer.MAX_VALUE : Integer.MIN_VALUE);
        } else {
            out.int32(Math.toIntExact(date.toEpochDay() - EPOCH_DAYS));
        }
    }

    private static void time(Object value, Out out) {
        if (!(value instanceof LocalTime time)) {
            throw Check.cannotHold("time", value);
        }
        out.int64(time.equals(LocalTime.MAX) ? DAY_MICROSECONDS : time.toNanoOfDay() / 1000);
    }

    private static void timeWithZone(Object value, Out out) {
        if (!(value instanceof OffsetTime time)) {
            throw Check.cannotHold("timetz", value);
        }
        time(time.toLocalTime(), out);
        out.int32(-time.getOffset().getTotalSeconds());
    }

    private static void interval(Object value, Out out) {
        Interval interval;
        if (value instanceof Interval given) {
            interval = given;
        } else if (value instanceof Duration given) {
            interval = Interval.of(given);
        } else if (value instanceof Period given) {
            interval = Interval.of(given);
        } else {
            throw Check.cannotHold("interval", value);
        }
        out.int64(interval.microseconds()).int32(interval.days()).int32(interval.months());
    }
}
