package io.github.trunkline.type;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetTime;
import java.time.ZoneOffset;
import java.util.Arrays;

/**
 * Times in text, as DateStyle ISO and IntervalStyle postgres write them: {@code 2024-01-02 03:04:05.678901+05:30},
 * {@code 0044-03-15 BC}. Read from the bytes, without a String between.
 */
final class TimeText {
    /** {@code 2024-01-02} */
    private static final int DATE_LENGTH = 10;
    /** {@code 2024-01-02 03:04:05} */
    private static final int SECONDS_LENGTH = 19;
    private static final byte[] INFINITY = "infinity".getBytes(StandardCharsets.US_ASCII);
    private static final long NO_DAYS = Long.MIN_VALUE;
    /** From 0000-03-01, by the calendar of today. */
    private static final long DAYS_TO_1970 = 719_468;
    /** By how many decimals there are. */
    private static final int[] NANOS_OF_DECIMALS = {0, 100_000_000, 10_000_000, 1_000_000, 100_000, 10_000, 1_000};

    private final String type;
    private final byte[] bytes;
    private final int start;
    private final int end;
    private int at;

    private TimeText(String type, byte[] bytes, int start, int length) {
        this.type = type;
        this.bytes = bytes;
        this.start = start;
        this.end = start + length;
        this.at = start;
    }

    static Object instant(byte[] bytes, int at, int length) {
        if (length >= SECONDS_LENGTH + 3 && length <= SECONDS_LENGTH + 10) {
            Object usual = usualInstant(bytes, at, at + length);
            if (usual != null) {
                return usual;
            }
        }
        var text = new TimeText("timestamptz", bytes, at, length);
        int infinite = text.infinity();
        if (infinite != 0) {
            return infinite > 0 ? Instant.MAX : Instant.MIN;
        }
        LocalDate date = text.date();
        text.expect(' ');
        LocalTime time = text.time();
        ZoneOffset offset = text.offset();
        text.era();
        text.end();
        return LocalDateTime.of(date, time).toInstant(offset);
    }

    /** Up to six decimals and an offset of whole hours; null for any other text. */
    private static Instant usualInstant(byte[] bytes, int at, int end) {
        long days = days(bytes, at);
        int second = secondOfDay(bytes, at + DATE_LENGTH);
        int nanos = nanos(bytes, at + SECONDS_LENGTH, end - 3);
        int hours = digits(bytes, end - 2, 2);
        if (days == NO_DAYS || (second | nanos | hours) < 0 || hours > 18) {
            return null;
        }
        byte sign = bytes[end - 3];
        if (sign != '+' && sign != '-') {
            return null;
        }
        long seconds = days * 86_400 + second + (sign == '-' ? hours : -hours) * 3600L;
        return Instant.ofEpochSecond(seconds, nanos);
    }

    /** The days from 1970 to a date of four, two and two digits; {@link #NO_DAYS} for any other text. */
    private static long days(byte[] bytes, int at) {
        int year = digits(bytes, at, 4);
        int month = digits(bytes, at + 5, 2);
        int day = digits(bytes, at + 8, 2);
        if ((year | month | day) < 0 || bytes[at + 4] != '-' || bytes[at + 7] != '-' || month < 1 || month > 12 || day < 1
                || day > 28 && day > lengthOfMonth(year, month)) {
            return NO_DAYS;
        }
        // Years from March to February, so that the day that comes and goes is a year's last. There is no year before 0.
        int marchYear = month > 2 ? year : year - 1;
        int marchMonth = month > 2 ? month - 3 : month + 9;
        int century = Math.floorDiv(marchYear, 100);
        return 365L * marchYear + Math.floorDiv(marchYear, 4) - century + Math.floorDiv(century, 4)
                + (153 * marchMonth + 2) / 5 + day - 1 - DAYS_TO_1970;
    }

    private static int lengthOfMonth(int year, int month) {
        return month == 2 ? (year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28)
                : month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
    }

    /** A blank, and two digits each for hours, minutes and seconds; negative for any other text. */
    private static int secondOfDay(byte[] bytes, int at) {
        int hour = digits(bytes, at + 1, 2);
        int minute = digits(bytes, at + 4, 2);
        int second = digits(bytes, at + 7, 2);
        if ((hour | minute | second) < 0 || bytes[at] != ' ' || bytes[at + 3] != ':' || bytes[at + 6] != ':' || hour > 23
                || minute > 59 || second > 59) {
            return -1;
        }
        return hour * 3600 + minute * 60 + second;
    }

    /** A point and up to six decimals, or nothing; negative for any other text. */
    private static int nanos(byte[] bytes, int at, int end) {
        if (at == end) {
            return 0;
        }
        if (bytes[at] != '.' || end - at == 1) {
            return -1;
        }
        int decimals = digits(bytes, at + 1, end - at - 1);
        return decimals < 0 ? -1 : decimals * NANOS_OF_DECIMALS[end - at - 1];
    }

    /** So many digits as a number; negative if one is none. */
    private static int digits(byte[] bytes, int at, int count) {
        int value = 0;
        int wrong = 0;
        for (int i = at; i < at + count; i++) {
            int digit = bytes[i] - '0';
            wrong |= digit | 9 - digit;
            value = value * 10 + digit;
        }
        return wrong < 0 ? -1 : value;
    }

    static Object dateTime(byte[] bytes, int at, int length) {
        if (length >= SECONDS_LENGTH && length <= SECONDS_LENGTH + 7) {
            long days = days(bytes, at);
            int second = secondOfDay(bytes, at + DATE_LENGTH);
            int nanos = nanos(bytes, at + SECONDS_LENGTH, at + length);
            if (days != NO_DAYS && (second | nanos) >= 0) {
                return LocalDateTime.of(TimeTypes.day(days), LocalTime.ofNanoOfDay(second * 1_000_000_000L + nanos));
            }
        }
        var text = new TimeText("timestamp", bytes, at, length);
        int infinite = text.infinity();
        if (infinite != 0) {
            return infinite > 0 ? LocalDateTime.MAX : LocalDateTime.MIN;
        }
        LocalDate date = text.date();
        text.expect(' ');
        LocalTime time = text.time();
        text.era();
        text.end();
        return LocalDateTime.of(date, time);
    }

    static Object date(byte[] bytes, int at, int length) {
        if (length == DATE_LENGTH) {
            long days = days(bytes, at);
            if (days != NO_DAYS) {
                return TimeTypes.day(days);
            }
        }
        var text = new TimeText("date", bytes, at, length);
        int infinite = text.infinity();
        if (infinite != 0) {
            return infinite > 0 ? LocalDate.MAX : LocalDate.MIN;
        }
        LocalDate date = text.date();
        text.era();
        text.end();
        return date;
    }

    static Object time(byte[] bytes, int at, int length) {
        var text = new TimeText("time", bytes, at, length);
        LocalTime time = text.time();
        text.end();
        return time;
    }

    static Object timeWithZone(byte[] bytes, int at, int length) {
        var text = new TimeText("timetz", bytes, at, length);
        LocalTime time = text.time();
        ZoneOffset offset = text.offset();
        text.end();
        return OffsetTime.of(time, offset);
    }

    /** IntervalStyle postgres: {@code 1 year 2 mons -3 days +04:05:06.789}. */
    static Object interval(String text) {
        if (text.equals("infinity") || text.equals("-infinity")) {
            return text.charAt(0) == '-' ? Interval.NEGATIVE_INFINITY : Interval.INFINITY;
        }
        long months = 0;
        long days = 0;
        long micros = 0;
        String[] words = text.split(" ");
        try {
            for (int i = 0; i < words.length; i++) {
                if (words[i].indexOf(':') > 0) {
                    micros = clock(words[i]);
                    continue;
                }
                long count = Long.parseLong(words[i]);
                String unit = words[++i];
                if (unit.startsWith("year")) {
                    months += count * 12;
                } else if (unit.startsWith("mon")) {
                    months += count;
                } else if (unit.startsWith("day")) {
                    days += count;
                } else {
                    throw Check.notText("interval", text);
                }
            }
            return new Interval(Math.toIntExact(months), Math.toIntExact(days), micros);
        } catch (NumberFormatException | ArithmeticException | IndexOutOfBoundsException e) {
            throw Check.notText("interval", text);
        }
    }

    private static long clock(String word) {
        boolean negative = word.charAt(0) == '-';
        String[] parts = word.substring(negative || word.charAt(0) == '+' ? 1 : 0).split(":");
        String[] seconds = parts[2].split("\\.");
        long micros = (Long.parseLong(parts[0]) * 3600 + Long.parseLong(parts[1]) * 60 + Long.parseLong(seconds[0]))
                * 1_000_000;
        if (seconds.length > 1) {
            micros += Long.parseLong((seconds[1] + "000000").substring(0, 6));
        }
        return negative ? -micros : micros;
    }

    /** 1 for infinity, -1 for -infinity, else 0. */
    private int infinity() {
        boolean negative = at < end && bytes[at] == '-';
        int first = negative ? at + 1 : at;
        if (!Arrays.equals(bytes, first, end, INFINITY, 0, INFINITY.length)) {
            return 0;
        }
        return negative ? -1 : 1;
    }

    private LocalDate date() {
        int year = number(4, 9);
        expect('-');
        int month = number(2, 2);
        expect('-');
        int day = number(2, 2);
        boolean beforeChrist = end - start > 3 && bytes[end - 1] == 'C' && bytes[end - 2] == 'B';
        try {
            // 1 BC is year 0 to java.time.
            return LocalDate.of(beforeChrist ? 1 - year : year, month, day);
        } catch (java.time.DateTimeException e) {
            throw wrong();
        }
    }

    /** Passes over what {@link #date} has looked at already. */
    private void era() {
        if (end - at == 3 && bytes[at] == ' ' && bytes[at + 1] == 'B' && bytes[at + 2] == 'C') {
            at = end;
        }
    }

    private LocalTime time() {
        int hour = number(2, 2);
        expect(':');
        int minute = number(2, 2);
        int second = 0;
        int nanos = 0;
        expect(':');
        second = number(2, 2);
        if (at < end && bytes[at] == '.') {
            at++;
            int unit = 100_000_000;
            for (; at < end && isDigit(bytes[at]) && unit > 0; at++, unit /= 10) {
                nanos += (bytes[at] - '0') * unit;
            }
        }
        if (hour == 24 && minute == 0 && second == 0 && nanos == 0) {
            return LocalTime.MAX;
        }
        try {
            return LocalTime.of(hour, minute, second, nanos);
        } catch (java.time.DateTimeException e) {
            throw wrong();
        }
    }

    private ZoneOffset offset() {
        if (at >= end || bytes[at] != '+' && bytes[at] != '-') {
            throw wrong();
        }
        int sign = bytes[at++] == '+' ? 1 : -1;
        int seconds = number(2, 2) * 3600;
        for (int unit = 60; unit >= 1 && at < end && bytes[at] == ':'; unit /= 60) {
            at++;
            seconds += number(2, 2) * unit;
        }
        if (seconds > 18 * 3600) {
            throw wrong();
        }
        return seconds == 0 ? ZoneOffset.UTC : ZoneOffset.ofTotalSeconds(sign * seconds);
    }

    private int number(int digitsMin, int digitsMax) {
        int value = 0;
        int first = at;
        for (; at < end && at - first < digitsMax && isDigit(bytes[at]); at++) {
            value = value * 10 + bytes[at] - '0';
        }
        if (at - first < digitsMin) {
            throw wrong();
        }
        return value;
    }

    private static boolean isDigit(byte b) {
        return b >= '0' && b <= '9';
    }

    private void expect(char c) {
        if (at >= end || bytes[at] != c) {
            throw wrong();
        }
        at++;
    }

    private void end() {
        if (at != end) {
            throw wrong();
        }
    }

    private RuntimeException wrong() {
        return Check.notText(type, Codec.utf8(bytes, start, end - start));
    }
}
