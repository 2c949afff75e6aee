package io.github.trunkline.row;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.trunkline.type.Decoder;
import io.github.trunkline.type.Types;
import io.github.trunkline.wire.ColumnDescription;
import io.github.trunkline.wire.Out;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class SharedRowTest {
    private static final int THREADS = 8;
    private static final int READS = 100_000_000;
    /** Rows whose dates fall into one place of what is remembered of dates, so that threads take it from each other. */
    private static final int ROWS = 8;
    private static final int DAYS = 4096;

    private static Row row(int number) {
        int[] oids = {20, 25, 1184, 1082};
        var types = new Types();
        var descriptions = new ColumnDescription[oids.length];
        var decoders = new Decoder[oids.length];
        for (int i = 0; i < oids.length; i++) {
            descriptions[i] = new ColumnDescription("c" + i, 0, 0, oids[i], -1, -1, 1);
            decoders[i] = types.codec(oids[i]).binary();
        }
        byte[] text = ("row " + number).getBytes(StandardCharsets.US_ASCII);
        var body = new Out().int16(oids.length).int32(8).int64(number).int32(text.length).bytes(text)
                .int32(8).int64(number * 1_000_001L).int32(4).int32(number * DAYS);
        return Row.of(new Columns(List.of(descriptions), decoders), Arrays.copyOf(body.array(), body.size()));
    }

    @Test
    void eightThreadsReadAHundredMillionValues() throws InterruptedException {
        var rows = new Row[ROWS];
        var texts = new String[ROWS];
        var dates = new LocalDate[ROWS];
        var instants = new Instant[ROWS];
        for (int i = 0; i < ROWS; i++) {
            rows[i] = row(i);
            texts[i] = "row " + i;
            dates[i] = LocalDate.of(2000, 1, 1).plusDays((long) i * DAYS);
            instants[i] = Instant.parse("2000-01-01T00:00:00Z").plusNanos(i * 1_000_001_000L);
        }
        var wrong = new AtomicLong();
        var threads = new ArrayList<Thread>();
        for (int t = 0; t < THREADS; t++) {
            int seed = t;
            threads.add(new Thread(() -> {
                int bad = 0;
                for (int i = 0; i < READS / THREADS; i += 8) {
                    int number = i / 8 * 5 + seed & ROWS - 1;
                    Row row = rows[number];
                    for (int j = 0; j < 5; j++) {
                        bad += row.getLong(0) == number ? 0 : 1;
                    }
                    bad += row.getString(1).equals(texts[number]) ? 0 : 1;
                    bad += row.getInstant(2).equals(instants[number]) ? 0 : 1;
                    bad += row.getLocalDate(3).equals(dates[number]) ? 0 : 1;
                }
                wrong.addAndGet(bad);
            }));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(0, wrong.get());
    }
}
