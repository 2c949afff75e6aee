package io.github.trunkline.type;

import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetTime;
import java.time.ZoneOffset;

/**
 * Times in text, as DateStyle ISO and IntervalStyle postgres write them: {@code 2024-01-02 03:04:05.678901+05:30},
 * {@code 0044-03-15 BC}. Read from the bytes, without a String between.
 */
final class TimeText {
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

    static Object dateTime(byte[] bytes, int at, int length) {
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

    private int infinity() {
        if (at < end && bytes[at] == 'i') {
            return 1;
        }
        return at + 1 < end && bytes[at] == '-' && bytes[at + 1] == 'i' ? -1 : 0;
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
