package io.github.trunkline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.trunkline.row.Row;
import io.github.trunkline.row.Rows;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

@EnabledIfEnvironmentVariable(named = Server.VARIABLE, matches = ".+")
@ParameterizedClass
@MethodSource("io.github.trunkline.Server#all")
class QueryTest {
    private final Server server;
    private final Connection connection;

    QueryTest(Server server) {
        this.server = server;
        this.connection = server.connect();
    }

    @AfterEach
    void close() {
        connection.close();
    }

    @Test
    void readsValuesByIndexAndByName() {
        Row row = connection.query("select 1::int8 as id, 'x' as name, null::int as nothing, true as yes, 1.5::float8 as f")
                .one();
        assertEquals(1, row.getLong("id"));
        assertEquals(1, row.getInt(0));
        assertEquals("x", row.getString("name"));
        assertTrue(row.isNull(2));
        assertNull(row.get("nothing"));
        assertTrue(row.getBoolean("yes"));
        assertEquals(1.5, row.getDouble("f"));
        assertThrows(ValueException.class, () -> row.getLong("nothing"));
        assertThrows(ValueException.class, () -> row.getLong("name"));
        assertThrows(IllegalArgumentException.class, () -> row.get("nowhere"));
        assertThrows(IndexOutOfBoundsException.class, () -> row.get(5));
        assertEquals("{id: 1, name: x, nothing: null, yes: true, f: 1.5}", row.toString());
        assertEquals(row, row.detach());
        assertEquals(row.hashCode(), row.detach().hashCode());
    }

    @Test
    void keepsManyRowsOfAllSizes() {
        Rows rows = connection.query("select i, repeat('x', case when i % 1000 = 0 then 300000 else i % 100 end) as t "
                + "from generate_series(1, 20000) i");
        assertEquals(20_000, rows.size());
        assertEquals(20_000, rows.affected());
        int expected = 0;
        for (Row row : rows) {
            expected++;
            check(row, expected);
        }
        for (int i = 19_999; i >= 0; i -= 7) {
            check(rows.get(i), i + 1);
        }
        assertEquals(20_000, rows.values().length);
        assertThrows(IndexOutOfBoundsException.class, () -> rows.get(20_000));
    }

    private static void check(Row row, int number) {
        assertEquals(number, row.getInt(0));
        assertEquals(number % 1000 == 0 ? 300_000 : number % 100, row.getString(1).length());
    }

    @Test
    void keepsNoMoreThanWhatCame() {
        Rows one = connection.query("select 1");
        assertTrue(one.sizeInBytes() < 64, "" + one.sizeInBytes());
        Rows many = connection.query("select i::int8, 'abcdefghij' from generate_series(1, 50000) i");
        long came = 50_000L * (5 + 2 + 4 + 8 + 4 + 10);
        assertTrue(many.sizeInBytes() < came * 1.1 + 50_000 * 4, many.sizeInBytes() + " for " + came);
    }

    @Test
    void aRowOutlivesItsConnectionAndTheNextQueries() {
        Row kept = connection.query("select 'kept' as t").one();
        Rows more = connection.query("select 'kept' || i as t from generate_series(1, 5000) i");
        for (int i = 0; i < 20; i++) {
            connection.query("select repeat('z', 100000)");
        }
        connection.close();
        assertEquals("kept", kept.getString(0));
        for (int i = 0; i < 5000; i++) {
            assertEquals("kept" + (i + 1), more.get(i).getString(0));
        }
    }

    @Test
    void goesOnAfterErrors() {
        var syntax = assertThrows(ServerException.class, () -> connection.query("selec 1"));
        assertEquals("42601", syntax.sqlState());
        assertEquals(1, syntax.position().orElse(-1));
        assertThrows(ServerException.class, () -> connection.query("select 1 / $1::int", 0));
        assertThrows(ValueException.class, () -> connection.query("select $1::int", 1, 2));
        assertThrows(ValueException.class, () -> connection.query("select $1::int", new Object()));
        assertThrows(ValueException.class, () -> connection.query("select $1::int", 1L << 40));
        assertEquals(3, connection.query("select $1::int + $2", 1, 2).one().getInt(0));
        // Rows came before the error.
        assertThrows(ServerException.class,
                () -> connection.query("select 1 / (5000 - i) from generate_series(1, 6000) i"));
        assertEquals(1, connection.query("select 1").one().getInt(0));
        assertTrue(connection.isIdle());
    }

    @Test
    void sendsStringsForAnyType() {
        Row row = connection.query("select $1::int, $2::timestamptz, $3::int[], $4::jsonb, $5::numeric",
                "42", "2024-01-01T00:00:00Z", "{1,2}", "{\"a\": 1}", "1.50").one();
        assertEquals("42", row.getString(0));
        assertEquals("2024-01-01T00:00:00Z", row.getString(1));
        assertEquals(List.of(1, 2), row.get(2));
        assertEquals("{\"a\": 1}", row.getString(3));
        assertEquals("1.50", row.getString(4));
    }

    @Test
    void preparesAgainWhenATableHasChanged() {
        connection.script("drop table if exists changing; create table changing (a int); insert into changing values (1)");
        assertEquals(1, connection.query("select * from changing").one().size());
        connection.execute("alter table changing add b text default 'x'");
        assertEquals("x", connection.query("select * from changing").one().getString("b"));
        connection.execute("drop table changing");
    }

    @Test
    void keepsAsManyStatementsAsItMay() {
        try (Connection few = Connection.connect(server.builder().statementsMax(3).build())) {
            for (int round = 0; round < 3; round++) {
                for (int i = 0; i < 10; i++) {
                    assertEquals(i, few.query("select " + i + " + $1::int", 0).one().getInt(0));
                }
            }
            if (server.isDirect()) {
                long kept = few.query("select count(*) from pg_prepared_statements").one().getLong(0);
                assertTrue(kept <= 4, kept + " statements");
            }
        }
    }

    /** Each of these is a text of its own, as an insert of so many rows is. */
    @Test
    void keepsNoMoreThanSoMuchTextOfStatements() {
        String filler = "x".repeat(100_000);
        for (int i = 0; i < 100; i++) {
            assertEquals(i, connection.query("select " + i + " /* " + filler + " */").one().getInt(0));
        }
        if (server.isDirect()) {
            long kept = connection.query("select sum(length(statement)) from pg_prepared_statements").one().getLong(0);
            assertTrue(kept > 3_000_000 && kept < 4_200_000, kept + " characters");
        }
        String huge = "select 1 /* " + "x".repeat(5_000_000) + " */";
        for (int i = 0; i < 3; i++) {
            assertEquals(1, connection.query(huge).one().getInt(0));
        }
        assertEquals(1, connection.execute(Query.of("select 1").timeout(Duration.ofSeconds(60))));
    }

    @Test
    void readsTimesByName() {
        Row row = connection.query("select '2024-02-29 01:02:03+00'::timestamptz t, '2024-02-29'::date d, "
                + "'2024-02-29 01:02:03'::timestamp l, 1.50 n, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid u, null z").one();
        assertEquals("2024-02-29T01:02:03Z", row.getInstant("t").toString());
        assertEquals("2024-02-29T01:02:03Z", row.getOffsetDateTime("t").toString());
        assertEquals("2024-02-29", row.getLocalDate("d").toString());
        assertEquals("2024-02-29T01:02:03", row.getLocalDateTime("l").toString());
        assertEquals("1.50", row.getBigDecimal("n").toString());
        assertEquals("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", row.getUuid("u").toString());
        assertTrue(row.isNull("z"));
        assertEquals("1.50", row.get("n", java.math.BigDecimal.class).toString());
    }

    @Test
    void runsPipelines() {
        List<Rows> results = connection.pipeline(List.of(Query.of("select $1::int", 1), Query.of("select 'two'"),
                Query.of("select i from generate_series(1, $1::int) i", 1000), Query.of("select $1::int", 4)));
        assertEquals(4, results.size());
        assertEquals(1, results.get(0).one().getInt(0));
        assertEquals("two", results.get(1).one().getString(0));
        assertEquals(1000, results.get(2).size());
        assertEquals(4, results.get(3).one().getInt(0));
        assertEquals(List.of(), connection.pipeline(List.of()));
    }

    @Test
    void aPipelineIsOneTransaction() {
        connection.script("drop table if exists piped; create table piped (i int unique)");
        var refused = assertThrows(PipelineException.class, () -> connection.pipeline(List.of(
                Query.of("insert into piped values ($1)", 1), Query.of("insert into piped values ($1)", 1),
                Query.of("insert into piped values ($1)", 2))));
        assertEquals("23505", refused.sqlState());
        assertEquals(1, refused.index());
        var sets = new ArrayList<List<Object>>();
        for (int i = 0; i < 5000; i++) {
            sets.add(List.of(i));
        }
        sets.add(List.of("no number"));
        assertThrows(PipelineException.class, () -> connection.batch("insert into piped values ($1)", sets));
        sets.set(5000, List.of(new Object()));
        assertThrows(ValueException.class, () -> connection.batch("insert into piped values ($1)", sets));
        assertEquals(0, connection.query("select count(*) from piped").one().getLong(0));
        sets.remove(5000);
        assertEquals(5000, connection.batch("insert into piped values ($1)", sets).size());
        assertEquals(5000, connection.query("select count(*) from piped").one().getLong(0));
        connection.execute("drop table piped");
    }

    @Test
    void aPipelineDoesNotHangOnLargeAnswersAndLargeQuestions() {
        String large = "x".repeat(3_000_000);
        var queries = new ArrayList<Query>();
        for (int i = 0; i < 6; i++) {
            queries.add(Query.of("select repeat('y', 5000000), length($1::text)", large));
        }
        for (Rows rows : connection.pipeline(queries)) {
            assertEquals(3_000_000, rows.one().getInt(1));
            assertEquals(5_000_000, rows.one().getString(0).length());
        }
    }

    @Test
    void commitsAndRollsBack() {
        connection.script("drop table if exists moved; create table moved (i int)");
        connection.transaction(tx -> tx.execute("insert into moved values (1)"));
        assertThrows(IllegalStateException.class, () -> connection.transaction(tx -> {
            tx.execute("insert into moved values (2)");
            throw new IllegalStateException("the program's own");
        }));
        connection.transaction(tx -> {
            tx.execute("insert into moved values (3)");
            assertThrows(ServerException.class, () -> tx.savepoint(inner -> {
                inner.execute("insert into moved values (4)");
                return inner.execute("insert into nowhere values (4)");
            }));
            return tx.execute("insert into moved values (5)");
        });
        // An error that is swallowed under a savepoint ends with the savepoint.
        connection.transaction(tx -> {
            assertThrows(ServerException.class, () -> tx.savepoint(
                    inner -> assertThrows(ServerException.class, () -> inner.query("select 1 / 0"))));
            return tx.execute("insert into moved values (6)");
        });
        // An error that is swallowed does not pass for a commit.
        assertThrows(PostgresException.class, () -> connection.transaction(tx -> {
            tx.execute("insert into moved values (7)");
            assertThrows(ServerException.class, () -> tx.query("select 1 / 0"));
            return null;
        }));
        assertFalse(connection.inTransaction());
        assertEquals("[{i: 1}, {i: 3}, {i: 5}, {i: 6}]", connection.query("select i from moved order by i").toString());
        assertThrows(ServerException.class, () -> connection.transaction(TransactionMode.READ_ONLY,
                tx -> tx.execute("insert into moved values (8)")));
        connection.execute("drop table moved");
    }

    @Test
    void aTransactionsModeCountsInsideOfAnotherToo() {
        connection.script("drop table if exists moded; create table moded (i int)");
        connection.transaction(TransactionMode.REPEATABLE_READ, tx -> {
            tx.execute("insert into moded select 1 where false");
            assertEquals("25006", assertThrows(ServerException.class, () -> tx.transaction(TransactionMode.READ_ONLY,
                    inner -> inner.execute("insert into moded values (1)"))).sqlState());
            assertEquals(2, tx.transaction(TransactionMode.REPEATABLE_READ, inner -> inner.query("select 2")).one().getInt(0));
            assertEquals("25001", assertThrows(ServerException.class, () -> tx.transaction(TransactionMode.SERIALIZABLE,
                    inner -> inner.execute("insert into moded values (2)"))).sqlState());
            assertEquals(0, tx.transaction(TransactionMode.READ_ONLY, inner -> inner.query("select from moded")).size());
            return tx.execute("insert into moded values (3)");
        });
        assertEquals("[{i: 3}]", connection.query("select i from moded").toString());
        connection.execute("drop table moded");
    }

    @Test
    void moreParametersThanTheProtocolCounts() {
        int count = 70_000;
        var text = new StringBuilder("select 1 where 1 in ($1");
        for (int i = 2; i <= count; i++) {
            text.append(",$").append(i);
        }
        var values = new Object[count];
        java.util.Arrays.fill(values, 1);
        var error = assertThrows(ValueException.class, () -> connection.query(text.append(')').toString(), values));
        assertTrue(error.getMessage().contains("65,535"), error.getMessage());
        assertEquals(1, connection.query("select 1").one().getInt(0));
    }

    @Test
    void streamsRowsAndStopsEarly() {
        Query numbers = Query.of("select i::int8 from generate_series(1, $1::int) i", 100_000).fetchRows(1000);
        assertEquals(5_000_050_000L, connection.reduce(numbers, 0L, (sum, row) -> sum + row.getLong(0)));
        assertEquals(5050, connection.reduce(numbers, 0L, (sum, row) -> sum + row.getLong(0), sum -> sum >= 5050));
        try (RowStream rows = connection.stream(numbers)) {
            Row first = rows.next();
            assertThrows(IllegalStateException.class, () -> connection.query("select 1"));
            var kept = new ArrayList<Row>();
            rows.stream().limit(50_000).forEach(kept::add);
            assertEquals(1, first.getLong(0));
            for (int i = 0; i < kept.size(); i++) {
                assertEquals(i + 2, kept.get(i).getLong(0));
            }
        }
        assertThrows(IllegalStateException.class, () -> connection.forEach(numbers.fetchRows(0), row -> {
            throw new IllegalStateException("the program's own");
        }));
        assertThrows(ServerException.class, () -> connection.forEach(
                Query.of("select 1 / (5000 - i) from generate_series(1, 6000) i"), row -> {}));
        assertEquals(1, connection.query("select 1").one().getInt(0));
    }

    @Test
    void givesUpAtTheDeadline() {
        var late = assertThrows(CanceledException.class,
                () -> connection.query(Query.of("select pg_sleep(30)").timeout(Duration.ofMillis(100))));
        assertTrue(late.getMessage().contains("deadline"), late.getMessage());
        assertEquals(1, connection.query("select 1").one().getInt(0));
    }

    @Test
    void cancelsWhenItsThreadIsInterrupted() throws InterruptedException {
        var thrown = new ArrayList<Throwable>();
        var thread = new Thread(() -> {
            try {
                connection.query("select pg_sleep(30)");
            } catch (RuntimeException e) {
                thrown.add(e);
            }
        });
        thread.start();
        thread.interrupt();
        thread.join(20_000);
        assertEquals(CanceledException.class, thrown.get(0).getClass(), "" + thrown);
        assertEquals(1, connection.query("select 1").one().getInt(0));
    }

    @Test
    void isCanceledByAnotherThread() throws InterruptedException {
        var thrown = new ArrayList<PostgresException>();
        var thread = new Thread(() -> {
            try {
                connection.query("select pg_sleep(30)");
            } catch (PostgresException e) {
                thrown.add(e);
            }
        });
        thread.start();
        while (thread.isAlive()) {
            // Until it hits: a request that comes before the query does nothing.
            connection.cancel();
            thread.join(50);
        }
        assertEquals("57014", thrown.get(0).sqlState());
        assertEquals(1, connection.query("select 1").one().getInt(0));
    }

    @Test
    void hearsNoticesAndQueries() {
        var notices = new ArrayList<String>();
        connection.onNotice(notice -> notices.add(notice.text('M').orElse("")));
        connection.execute("do $$ begin raise notice 'hear, hear'; end $$");
        assertEquals(List.of("hear, hear"), notices);
        var heard = new ArrayList<String>();
        connection.onQuery((sql, nanoseconds, rows, error) -> heard.add(sql + " " + rows + " " + (error == null)));
        connection.query("select 1 union all select 2");
        assertThrows(ServerException.class, () -> connection.query("select nothing"));
        assertEquals(List.of("select 1 union all select 2 2 true", "select nothing 0 false"), heard);
    }

    @Test
    void manyThreadsShareAConnectionAndItsRows() throws InterruptedException {
        Rows rows = connection.query("select i::int8, i::text, i::float8 from generate_series(1, 1000) i");
        var wrong = new AtomicInteger();
        var threads = new ArrayList<Thread>();
        for (int t = 0; t < 8; t++) {
            int seed = t;
            threads.add(new Thread(() -> {
                for (int i = 0; i < 50_000; i++) {
                    int number = (i * 31 + seed) % 1000;
                    Row row = rows.get(number);
                    boolean right = row.getLong(0) == number + 1 && row.getDouble(2) == number + 1
                            && (i % 16 != 0 || row.getString(1).equals("" + (number + 1)));
                    if (!right || i % 5000 == 0 && connection.query("select $1::int", i).one().getInt(0) != i) {
                        wrong.incrementAndGet();
                    }
                }
            }));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(0, wrong.get());
    }

    @Test
    void refusesCopyWhereNoneBelongs() {
        assertThrows(PostgresException.class, () -> connection.query("copy (select 1) to stdout"));
        assertEquals(1, connection.query("select 1").one().getInt(0));
        connection.script("drop table if exists fed; create table fed (i int)");
        assertThrows(PostgresException.class, () -> connection.query("copy fed from stdin"));
        assertThrows(PostgresException.class, () -> connection.script("copy fed from stdin"));
        assertEquals(0, connection.query("select count(*) from fed").one().getLong(0));
        assertThrows(PostgresException.class, () -> connection.copyIn("select 1"));
        assertThrows(ServerException.class, () -> connection.copyIn("copy nowhere from stdin"));
        assertThrows(PostgresException.class, () -> connection.copyOut("copy fed from stdin"));
        assertEquals(1, connection.query("select 1").one().getInt(0));
        connection.execute("drop table fed");
    }

    @Test
    void runsStatementsWithoutRowsAndWithoutText() {
        Rows none = connection.query("");
        assertEquals(0, none.size());
        assertEquals("", none.tag());
        assertEquals("SET", connection.query("set work_mem = '5MB'").tag());
        assertEquals(3, connection.script("select 1; ; select 2; select 'x' where false").size());
        assertEquals(1, connection.query("select from generate_series(1, 1)").size());
    }
}
