package io.github.trunkline.type;

import java.time.Duration;
import java.time.Period;

/**
 * PostgreSQL's interval: three counts that do not become each other, since a month has 28 to 31 days and a day 23 to 25
 * hours. PostgreSQL 17's infinite intervals are {@link #INFINITY} and {@link #NEGATIVE_INFINITY}.
 *
 * @param months months, 12 a year
 * @param days days
 * @param microseconds the time part
 */
public record Interval(int months, int days, long microseconds) {
    /** infinity */
    public static final Interval INFINITY = new Interval(Integer.MAX_VALUE, Integer.MAX_VALUE, Long.MAX_VALUE);
    /** -infinity */
    public static final Interval NEGATIVE_INFINITY = new Interval(Integer.MIN_VALUE, Integer.MIN_VALUE, Long.MIN_VALUE);

    /** The months and days as a period, with 12 months a year. */
    public Period period() {
        return Period.of(months / 12, months % 12, days);
    }

    /** The time part. */
    public Duration duration() {
        return Duration.ofSeconds(microseconds / 1_000_000, microseconds % 1_000_000 * 1000);
    }

    /** An interval of months and days. */
    public static Interval of(Period period) {
        return new Interval(Math.toIntExact(period.toTotalMonths()), period.getDays(), 0);
    }

    /** An interval of time. What is finer than a microsecond is cut off. */
    public static Interval of(Duration duration) {
        return new Interval(0, 0, Math.addExact(
                Math.multiplyExact(duration.getSeconds(), 1_000_000L), duration.getNano() / 1000));
    }

    /** A text that PostgreSQL reads as this interval. */
    @Override
    public String toString() {
        if (equals(INFINITY)) {
            return "infinity";
        }
        return equals(NEGATIVE_INFINITY) ? "-infinity"
                : months + " mons " + days + " days " + microseconds + " microseconds";
    }
}
