package io.github.trunkline.copy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.trunkline.Connection;
import io.github.trunkline.Server;
import io.github.trunkline.ServerException;
import io.github.trunkline.ValueException;
import io.github.trunkline.row.Row;
import io.github.trunkline.type.Geometry;
import io.github.trunkline.type.Interval;
import io.github.trunkline.type.Range;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

@EnabledIfEnvironmentVariable(named = Server.VARIABLE, matches = ".+")
@ParameterizedClass
@MethodSource("io.github.trunkline.Server#all")
class CopyTest {
    private static final int[] TYPES = {20, 25};

    private final Connection connection;

    CopyTest(Server server) {
        connection = server.connect();
    }

    @BeforeEach
    void create() {
        connection.script("drop table if exists copied; create table copied (id int8, name text)");
    }

    @AfterEach
    void close() {
        connection.script("drop table copied");
        connection.close();
    }

    private long count() {
        return connection.query("select count(*) from copied").one().getLong(0);
    }

    @Test
    void textGoesInAndComesOut() throws IOException {
        try (CopyIn in = connection.copyIn("copy copied from stdin")) {
            for (int i = 0; i < 50_000; i++) {
                in.write((i + "\tname " + i + "\n").getBytes(StandardCharsets.UTF_8));
            }
            assertThrows(IllegalStateException.class, this::count);
            assertEquals(50_000, in.finish());
        }
        assertEquals(50_000, count());
        try (var out = new BufferedReader(new InputStreamReader(
                connection.copyOut("copy (select * from copied order by id) to stdout"), StandardCharsets.UTF_8))) {
            for (int i = 0; i < 50_000; i++) {
                assertEquals(i + "\tname " + i, out.readLine());
            }
            assertEquals(null, out.readLine());
        }
        // Closed early, the rest is passed over.
        try (CopyOut out = connection.copyOut("copy copied to stdout")) {
            assertTrue(out.read() > 0);
        }
        assertEquals(50_000, count());
    }

    @Test
    void rowsGoInAndComeOutInBinary() {
        List<List<Object>> rows = IntStream.range(0, 20_000).<List<Object>>mapToObj(
                i -> Arrays.asList(i, i % 3 == 0 ? null : "name " + i)).toList();
        assertEquals(20_000, connection.copyIn("copy copied from stdin with (format binary)").rows(TYPES, rows));
        var back = new ArrayList<Object[]>();
        connection.copyOut("copy (select * from copied order by id) to stdout with (format binary)").rows(TYPES, back::add);
        assertEquals(20_000, back.size());
        assertEquals(Arrays.asList(7L, "name 7"), Arrays.asList(back.get(7)));
        assertEquals(Arrays.asList(9L, null), Arrays.asList(back.get(9)));
    }

    @Test
    void rowsGoInAndComeOutInText() {
        List<List<Object>> rows = List.of(Arrays.asList(1, "a\tb\nc\\d\re"), Arrays.asList(2, null), Arrays.asList(3, ""),
                Arrays.asList(4, "\\N"), Arrays.asList(null, "\u00fc \ud83d\ude00"));
        assertEquals(5, connection.copyIn("copy copied from stdin").rows(TYPES, rows));
        var back = new ArrayList<List<Object>>();
        connection.copyOut("copy (select * from copied order by id) to stdout").rows(TYPES, row -> back.add(Arrays.asList(row)));
        assertEquals(rows.stream().map(row -> Arrays.asList(
                row.get(0) == null ? null : ((Integer) row.get(0)).longValue(), row.get(1))).toList(), back);
        assertThrows(ValueException.class, () -> connection.copyIn("copy copied from stdin with (format csv)").rows(TYPES, rows));
        assertThrows(ValueException.class, () -> connection.copyIn("copy copied from stdin csv").rows(TYPES, rows));
        assertThrows(ValueException.class, () -> connection.copyIn("copy copied from stdin").rows(TYPES, List.of(List.of(1))));
        assertThrows(ValueException.class,
                () -> connection.copyOut("copy copied to stdout").rows(new int[] {20}, row -> {}));
        assertThrows(ValueException.class,
                () -> connection.copyOut("copy copied to stdout").rows(new int[] {20, 25, 25}, row -> {}));
        assertEquals(5, count());
    }

    /** All that can be sent in one format goes as well in the other. */
    @Test
    void rowsGoIntoATableWhateverItsTypesAre() {
        Object[] values = {1L, "x", Instant.parse("2024-02-29T12:00:00.5Z"), Instant.MAX, LocalDate.of(-43, 3, 15),
            LocalDateTime.parse("2024-02-29T12:00:00"), LocalTime.MAX, new BigDecimal("1.50"), Double.NaN, true,
            new byte[] {0, '\\', (byte) 0xff}, List.of(1, 2), List.of("a,b", "\"c\\"), UUID.randomUUID(), "{\"a\": 1}",
            Range.of(1, 5), List.of(Range.of(1, 3), Range.of(5, 7)), new Geometry.Point(1, 2), new Interval(1, 2, 3), "0101"};
        connection.script("drop table if exists wide; create table wide (a int8, b text, c timestamptz, d timestamptz, e date, "
                + "f timestamp, g time, h numeric, i float8, j bool, k bytea, l int[], m text[], n uuid, o jsonb, p int4range, "
                + "q int4multirange, r point, s interval, t bit(4), \"the money\" money)");
        var names = new ArrayList<String>();
        for (char c = 'a'; c <= 't'; c++) {
            names.add("" + c);
        }
        assertEquals(2, connection.copyRows("wide", names, List.of(Arrays.asList(values), Arrays.asList(new Object[20]))));
        Row binary = connection.query("select * from wide where a is not null").one();
        // money is written in no binary format here, so that all goes as text.
        names.add("the money");
        var more = new ArrayList<>(Arrays.asList(values));
        more.add("$1.50");
        connection.script("delete from wide");
        assertEquals(1, connection.copyRows("wide", names, List.of(more)));
        Row text = connection.query("select * from wide").one();
        for (int i = 0; i < values.length; i++) {
            assertEquals(Arrays.deepToString(new Object[] {values[i]}), Arrays.deepToString(new Object[] {binary.get(i)}));
            assertEquals(Arrays.deepToString(new Object[] {values[i]}), Arrays.deepToString(new Object[] {text.get(i)}));
        }
        assertEquals("$1.50", text.get("the money"));
        connection.script("delete from wide");
        assertEquals(1, connection.copyRows("wide", List.of(), List.of(more)));
        assertThrows(ServerException.class, () -> connection.copyRows("wide", List.of("nowhere"), List.of()));
        assertThrows(ValueException.class, () -> connection.copyRows("wide", List.of("a"), List.of(List.of(new Object()))));
        assertEquals(1, connection.query("select count(*) from wide").one().getLong(0));
        connection.script("drop table wide");
    }

    @Test
    void halfOfTheDataIsNeverTakenForAllOfIt() {
        assertThrows(IllegalStateException.class, () -> {
            try (CopyIn in = connection.copyIn("copy copied from stdin")) {
                in.write("1\tx\n".getBytes(StandardCharsets.UTF_8));
                throw new IllegalStateException("the program's own");
            }
        });
        assertEquals(0, count());
        List<List<?>> rows = List.of(List.of(1, "x"), List.of("no number", "y"));
        assertThrows(ValueException.class,
                () -> connection.copyIn("copy copied from stdin with (format binary)").rows(TYPES, rows));
        assertThrows(ValueException.class,
                () -> connection.copyIn("copy copied from stdin with (format binary)").rows(TYPES, List.of(List.of(1))));
        assertEquals(0, count());
    }

    @Test
    void theServersErrorIsThrownAndTheConnectionGoesOn() throws IOException {
        CopyIn in = connection.copyIn("copy copied from stdin");
        for (int i = 0; i < 100_000; i++) {
            in.write("no number\tx\n".getBytes(StandardCharsets.UTF_8));
        }
        assertEquals("22P02", assertThrows(ServerException.class, in::finish).sqlState());
        assertEquals(0, count());
        assertThrows(ServerException.class, () -> connection.copyOut(
                "copy (select 1 / (5000 - i) from generate_series(1, 6000) i) to stdout").transferTo(
                        java.io.OutputStream.nullOutputStream()));
        assertEquals(0, count());
    }
}
