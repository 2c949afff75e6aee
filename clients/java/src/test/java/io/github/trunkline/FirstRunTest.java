package io.github.trunkline;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.trunkline.row.Rows;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** With {@code text_first} a new text runs in one round trip; what it gives is what it gives later. */
@EnabledIfEnvironmentVariable(named = Server.VARIABLE, matches = ".+")
@ParameterizedClass
@MethodSource("io.github.trunkline.Server#all")
class FirstRunTest {
    private static final String VALUES = "select 1::int2, 2::int4, 3::int8, 4::oid, 0.1::float4, 0.1::float8, 1.50::numeric, "
            + "true, 'a'::text, '\\x0102'::bytea, '2024-02-29'::date, '12:00:00.5'::time, '2024-02-29 12:00:00.5'::timestamp, "
            + "'2024-02-29 12:00:00.5+02'::timestamptz, 'infinity'::timestamptz, '1 year 2 days -3.5 s'::interval, "
            + "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid, array[[1, null], [3, 4]], '{\"a\": 1}'::jsonb, "
            + "'[1,5)'::int4range, '10.0.0.0/8'::cidr, point '(1,2)', null::int4, '12.50'::money, 'NaN'::float8";

    private final Connection connection;

    FirstRunTest(Server server) {
        connection = Connection.connect(server.builder().set("text_first", "true").build());
    }

    @AfterEach
    void close() {
        connection.close();
    }

    @Test
    void givesWhatLaterRunsGive() {
        Object[] first = connection.query(VALUES).one().values();
        Object[] second = connection.query(VALUES).one().values();
        assertArrayEquals(first, second);
        for (int i = 0; i < first.length; i++) {
            assertEquals(second[i] == null ? null : second[i].getClass(), first[i] == null ? null : first[i].getClass());
        }
    }

    @Test
    void takesStringsAndNullsAndAsksBeforeForOthers() {
        for (int run = 0; run < 2; run++) {
            assertEquals("{a: 7, b: null}", connection.query("select $1::int a, $2::text b", "7", null).one().toString());
            assertEquals("{a: 7}", connection.query("select $1::int as a", 7).one().toString());
            assertThrows(ValueException.class, () -> connection.query("select $1::bool as a", 1));
        }
    }

    @Test
    void learnsTypes() {
        connection.script("drop type if exists first_mood; create type first_mood as enum ('sad', 'glad')");
        for (int run = 0; run < 2; run++) {
            Rows rows = connection.query("select 'glad'::first_mood as m, array['sad'::first_mood] as all");
            assertEquals("{m: glad, all: [sad]}", rows.one().toString());
        }
        connection.script("drop type first_mood");
    }

    @Test
    void saysWhatIsWrongAndGoesOn() {
        for (int run = 0; run < 2; run++) {
            assertEquals("42601", assertThrows(ServerException.class, () -> connection.query("selec")).sqlState());
            assertEquals("22012", assertThrows(ServerException.class, () -> connection.query("select 1 / 0")).sqlState());
            var count = assertThrows(ValueException.class, () -> connection.query("select $1::text"));
            assertTrue(count.getMessage().contains("has 1 parameters, and 0 values"), count.getMessage());
            assertThrows(PostgresException.class, () -> connection.query("copy (select 1) to stdout"));
            assertEquals(0, connection.query("").size());
            assertEquals("SET", connection.query("set work_mem = '5MB'").tag());
        }
        assertThrows(IllegalStateException.class, () -> connection.transaction(tx -> {
            assertThrows(ServerException.class, () -> tx.query("select 2 / 0"));
            assertThrows(ServerException.class, () -> tx.query("select 3"));
            throw new IllegalStateException("the program's own");
        }));
        assertEquals(3, connection.query("select 3").one().getInt(0));
        assertFalse(connection.inTransaction());
    }

    @Test
    void keepsManyRows() {
        for (int run = 0; run < 2; run++) {
            Rows rows = connection.query("select i, 'row ' || i from generate_series(1, 20000) i");
            assertEquals(20_000, rows.size());
            assertEquals("row 19999", rows.get(19_998).getString(1));
        }
    }
}
