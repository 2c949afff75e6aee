package io.github.trunkline.copy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.trunkline.Connection;
import io.github.trunkline.Server;
import io.github.trunkline.ServerException;
import io.github.trunkline.ValueException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
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
        assertThrows(ValueException.class, () -> connection.copyOut("copy copied to stdout").rows(TYPES, row -> {}) );
        assertEquals(0, count());
    }
}
