package io.github.trunkline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.trunkline.type.Codec;
import io.github.trunkline.type.Encoder;
import io.github.trunkline.type.Types;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** What a program throws, from wherever it is called, leaves the connection usable or closed, and never half of a message. */
@EnabledIfEnvironmentVariable(named = Server.VARIABLE, matches = ".+")
@ParameterizedClass
@MethodSource("io.github.trunkline.Server#all")
class ProgramsMistakesTest {
    private final Server server;
    private final Connection connection;

    ProgramsMistakesTest(Server server) {
        this.server = server;
        this.connection = server.connect();
    }

    @AfterEach
    void close() {
        connection.close();
    }

    private static void worksOn(Connection connection) {
        assertEquals(7, connection.query("select $1::int", 7).one().getInt(0));
        assertTrue(connection.isIdle());
    }

    /** As a Clojure function may: it declares nothing. */
    @SuppressWarnings("unchecked")
    private static <E extends Throwable> RuntimeException sneaky(Throwable error) throws E {
        throw (E) error;
    }

    @Test
    void aTextWithAZeroCharacter() {
        String zero = "select '\0'";
        assertThrows(IllegalArgumentException.class, () -> connection.query(zero));
        worksOn(connection);
        assertThrows(IllegalArgumentException.class, () -> connection.script(zero));
        worksOn(connection);
        assertThrows(IllegalArgumentException.class,
                () -> connection.pipeline(List.of(Query.of("select 1 as first"), Query.of(zero))));
        worksOn(connection);
        assertThrows(IllegalArgumentException.class, () -> connection.copyIn("copy t\0 from stdin"));
        worksOn(connection);
        try (Connection first = Connection.connect(server.builder().textFirst(true).build())) {
            assertThrows(IllegalArgumentException.class, () -> first.query(zero));
            worksOn(first);
        }
    }

    @Test
    void anEncoderThatThrowsWhateverThereIs() {
        for (Throwable thrown : new Throwable[] {new AssertionError("the codec's"), new IOException("the codec's"),
            new IllegalStateException("the codec's")}) {
            Encoder encoder = (value, out) -> {
                out.int32(1);
                throw ProgramsMistakesTest.<RuntimeException>sneaky(thrown);
            };
            var types = new Types().register(20, new Codec("int8", null, (bytes, at, length) -> "", encoder));
            try (Connection own = Connection.connect(server.builder().build(), types)) {
                var error = assertThrows(Throwable.class, () -> own.query("select $1::int8", 1));
                assertTrue(thrown instanceof Error ? error == thrown : error instanceof ValueException, "" + error);
                worksOn(own);
                assertThrows(Throwable.class, () -> own.batch("select $1::int8, $2::text", List.of(
                        List.of("1", "x".repeat(50_000)), List.of("1", "x".repeat(50_000)), List.of(1, "x"))));
                if (thrown instanceof Error) {
                    assertFalse(own.isOpen());
                } else {
                    worksOn(own);
                }
            }
        }
    }

    @Test
    void listenersThatThrow() {
        Thread.UncaughtExceptionHandler before = Thread.currentThread().getUncaughtExceptionHandler();
        var heard = new ArrayList<Throwable>();
        Thread.currentThread().setUncaughtExceptionHandler((thread, error) -> heard.add(error));
        try {
            connection.onNotice(notice -> {
                throw new AssertionError("the listener's");
            });
            connection.query("do $$ begin raise notice 'one'; raise notice 'two'; end $$");
            worksOn(connection);
            connection.onNotice(notice -> connection.query("select 1"));
            connection.execute("do $$ begin raise notice 'three'; end $$");
            worksOn(connection);
            connection.onQuery((sql, nanoseconds, rows, error) -> {
                throw new IllegalStateException("the listener's");
            });
            assertEquals(1, connection.query("select 1").one().getInt(0));
            assertEquals(List.of(AssertionError.class, AssertionError.class, IllegalStateException.class,
                    IllegalStateException.class), heard.stream().map(Object::getClass).toList());
        } finally {
            Thread.currentThread().setUncaughtExceptionHandler(before);
        }
    }

    @Test
    void rowsOfACopyThatThrow() {
        connection.script("drop table if exists mistaken; create table mistaken (i int)");
        Iterable<List<?>> rows = () -> {
            throw new AssertionError("the program's");
        };
        assertThrows(AssertionError.class, () -> connection.copyIn("copy mistaken from stdin with (format binary)")
                .rows(new int[] {23}, rows));
        worksOn(connection);
        assertThrows(AssertionError.class, () -> connection.copyRows("mistaken", List.of("i"), rows));
        worksOn(connection);
        connection.execute("drop table mistaken");
    }
}
