package io.github.trunkline.type;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.trunkline.ValueException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Times in text, of every shape that PostgreSQL writes with DateStyle ISO. */
class TimeTextTest {
    private static Object read(Codec codec, String text) {
        byte[] bytes = ("77" + text + "7").getBytes(StandardCharsets.US_ASCII);
        return codec.text().decode(bytes, 2, text.length());
    }

    @Test
    void everyDayOfTwelveCenturies() {
        for (LocalDate day = LocalDate.of(1, 1, 1); day.getYear() < 10; day = day.plusDays(1)) {
            assertEquals(day, read(TimeTypes.DATE, day.toString()));
        }
        for (LocalDate day = LocalDate.of(1590, 1, 1); day.getYear() < 2810; day = day.plusDays(1)) {
            assertEquals(day, read(TimeTypes.DATE, day.toString()));
            assertEquals(day.atTime(1, 2, 3), read(TimeTypes.TIMESTAMP, day + " 01:02:03"));
        }
    }

    @Test
    void timesOfAllShapes() {
        var random = new Random(20260103);
        String[] offsets = {"+00", "-08", "+14", "-15", "+05:30", "-02:30:20", "+00:00:01"};
        for (int i = 0; i < 200_000; i++) {
            int year = random.nextInt(10) == 0 ? random.nextInt(294_277) : 1 + random.nextInt(3000);
            boolean beforeChrist = random.nextInt(20) == 0 && year > 0 && year < 4713;
            LocalDate date = LocalDate.ofYearDay(beforeChrist ? 1 - year : year, 1 + random.nextInt(365));
            LocalDateTime time = date.atStartOfDay().plusSeconds(random.nextInt(86_400));
            int decimals = random.nextInt(7);
            String fraction = decimals == 0 ? "" : String.format(".%06d", random.nextInt(1_000_000)).substring(0, 1 + decimals);
            time = time.plusNanos(decimals == 0 ? 0 : Long.parseLong((fraction.substring(1) + "000000000").substring(0, 9)));
            int shown = beforeChrist ? 1 - date.getYear() : date.getYear();
            String text = String.format("%04d-%02d-%02d %02d:%02d:%02d", shown, date.getMonthValue(), date.getDayOfMonth(),
                    time.getHour(), time.getMinute(), time.getSecond()) + fraction;
            String era = beforeChrist ? " BC" : "";
            if (shown == 0) {
                continue;
            }
            assertEquals(time, read(TimeTypes.TIMESTAMP, text + era));
            String offset = offsets[random.nextInt(offsets.length)];
            Instant expected = time.toInstant(ZoneOffset.of(offset));
            assertEquals(expected, read(TimeTypes.TIMESTAMPTZ, text + offset + era), text + offset + era);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"2023-02-29 00:00:00+00", "1900-02-29 00:00:00+00", "2024-04-31 00:00:00+00",
        "2024-00-10 00:00:00+00", "2024-13-10 00:00:00+00", "2024-01-00 00:00:00+00", "2024-01-32 00:00:00+00",
        "2024-01-01 24:00:01+00", "2024-01-01 00:60:00+00", "2024-01-01 00:00:61+00", "2024-01-01 00:00:00+19",
        "2024-01-01 00:00:00.+00x", "2024-01-01T00:00:00+00", "2024-01-01 00:00:00 00", "2024-01-01 00.00:00+00",
        "2024/01/01 00:00:00+00", "2024-01-01 00:00:00.1234x6+00", "20x4-01-01 00:00:00+00", "2024-01-01 0:00:00+00",
        "2024-01-01 00:00:00", "", "i", "2024-01-01 00:00:00+00 AD", "2024-01-01 00:00:00+0/"})
    void whatIsNoTime(String text) {
        assertThrows(ValueException.class, () -> read(TimeTypes.TIMESTAMPTZ, text));
    }

    @ParameterizedTest
    @ValueSource(strings = {"2023-02-29", "2024-1-01", "2024-01-0x", "2024-01-01 ", "2024:01:01"})
    void whatIsNoDate(String text) {
        assertThrows(ValueException.class, () -> read(TimeTypes.DATE, text));
    }
}
