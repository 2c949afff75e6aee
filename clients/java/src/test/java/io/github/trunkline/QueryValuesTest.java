package io.github.trunkline;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.trunkline.pool.Pool;
import io.github.trunkline.row.Values;
import io.github.trunkline.type.Codec;
import io.github.trunkline.type.Decoder;
import io.github.trunkline.type.Types;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Results whose values are decoded while they come. */
@EnabledIfEnvironmentVariable(named = Server.VARIABLE, matches = ".+")
@ParameterizedClass
@MethodSource("io.github.trunkline.Server#all")
class QueryValuesTest {
    private final Server server;
    private final Connection connection;

    QueryValuesTest(Server server) {
        this.server = server;
        this.connection = server.connect();
    }

    @AfterEach
    void close() {
        connection.close();
    }

    /** The same values as rows give, whether they fit into a buffer, fill many, or are larger than one. */
    @Test
    void givesWhatRowsGive() {
        for (int count : new int[] {0, 1, 7, 3_000, 60_000}) {
            String sql = "select i, repeat('x', case when i % 5000 = 0 then 300000 else i % 50 end) as t, null::int as n, "
                    + "i::int8 * 7 as l from generate_series(1, " + count + ") i";
            Values values = connection.queryValues(sql);
            assertEquals(count, values.rows().length);
            assertEquals(count, values.affected());
            assertEquals(List.of("i", "t", "n", "l"),
                    List.of(0, 1, 2, 3).stream().map(values.columns()::name).toList());
            Object[][] expected = connection.query(sql).values();
            for (int i = 0; i < count; i++) {
                assertArrayEquals(expected[i], values.rows()[i]);
            }
        }
        assertTrue(connection.isIdle());
    }

    @Test
    void statementsWithoutRows() {
        Values none = connection.queryValues("do $$ begin end $$");
        assertEquals("DO", none.tag());
        assertEquals(0, none.rows().length);
        assertEquals(0, none.columns().size());
        assertEquals("", connection.queryValues("").tag());
    }

    @Test
    void errorsAmongTheRows() {
        var error = assertThrows(ServerException.class,
                () -> connection.queryValues("select 1 / (50000 - i) from generate_series(1, 60000) i"));
        assertEquals("22012", error.sqlState());
        assertEquals(7, connection.queryValues("select $1::int", 7).rows()[0][0]);
        connection.execute("drop table if exists values_changing");
        connection.execute("create table values_changing as select 1 as a");
        connection.queryValues("select * from values_changing");
        connection.execute("alter table values_changing add b int default 2");
        assertArrayEquals(new Object[] {1, 2}, connection.queryValues("select * from values_changing").rows()[0]);
        connection.execute("drop table values_changing");
    }

    /** Whatever a codec throws in the middle of a result comes out of the query, once the answer is read to its end. */
    @Test
    void aCodecThatThrows() {
        for (Throwable thrown : new Throwable[] {new IllegalStateException("the codec's"), new AssertionError("the codec's"),
            new IOException("the codec's")}) {
            var decoded = new AtomicInteger();
            Decoder decoder = (bytes, at, length) -> {
                if (decoded.incrementAndGet() == 30_000) {
                    throw QueryValuesTest.<RuntimeException>sneaky(thrown);
                }
                return "";
            };
            var types = new Types().register(20, new Codec("int8", decoder, decoder, null));
            try (Connection own = Connection.connect(server.builder().build(), types)) {
                String sql = "select i::int8 as big from generate_series(1, 60000) i";
                var error = assertThrows(Throwable.class, () -> own.queryValues(sql));
                if (thrown instanceof RuntimeException) {
                    assertTrue(error instanceof ValueException && error.getMessage().contains("big"), "" + error);
                } else {
                    assertSame(thrown, error);
                }
                assertEquals(30_000, decoded.get(), "nothing is decoded after the failure");
                assertTrue(own.isIdle());
                assertEquals(7, own.query("select $1::int", 7).one().getInt(0));
            }
        }
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> RuntimeException sneaky(Throwable error) throws E {
        throw (E) error;
    }

    /** The connection is in the middle of the answer when a codec is called. */
    @Test
    void aCodecThatUsesItsConnection() {
        var own = new Connection[1];
        Decoder decoder = (bytes, at, length) -> own[0].query("select 1");
        try (Connection connection = Connection.connect(server.builder().build(),
                new Types().register(20, new Codec("int8", decoder, decoder, null)))) {
            own[0] = connection;
            var error = assertThrows(ValueException.class, () -> connection.queryValues("select 1::int8"));
            assertTrue(error.getMessage().contains("in the middle of a call"), error.getMessage());
            assertTrue(connection.isIdle());
        }
    }

    @Test
    void ofAPool() {
        try (Pool pool = Pool.open(server.builder().build(), Pool.Settings.DEFAULT.connectionsMax(1))) {
            assertEquals("x", pool.queryValues("select $1::text", "x").rows()[0][0]);
            assertThrows(ServerException.class, () -> pool.queryValues("selec"));
            assertEquals(1, pool.idle());
            assertFalse(pool.queryValues(Query.of("select 1")).columns() == null);
        }
    }
}
