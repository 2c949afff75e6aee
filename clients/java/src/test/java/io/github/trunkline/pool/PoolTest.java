package io.github.trunkline.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.trunkline.Connection;
import io.github.trunkline.ConnectionException;
import io.github.trunkline.PostgresException;
import io.github.trunkline.Query;
import io.github.trunkline.Server;
import io.github.trunkline.TransactionMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

@EnabledIfEnvironmentVariable(named = Server.VARIABLE, matches = ".+")
@ParameterizedClass
@MethodSource("io.github.trunkline.Server#all")
class PoolTest {
    private final Server server;
    private final Pool pool;

    PoolTest(Server server) {
        this.server = server;
        pool = Pool.open(server.builder().build(),
                Pool.Settings.DEFAULT.connectionsMax(3).waitMax(Duration.ofSeconds(20)));
    }

    @AfterEach
    void close() {
        pool.close();
        assertEquals(0, pool.size());
    }

    @Test
    void manyThreadsShareFewConnections() throws InterruptedException {
        var sum = new AtomicLong();
        var threads = new ArrayList<Thread>();
        for (int t = 0; t < 16; t++) {
            threads.add(new Thread(() -> {
                for (int i = 0; i < 50; i++) {
                    sum.addAndGet(pool.query("select $1::int8", i).one().getLong(0));
                }
            }));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(16 * 1225, sum.get());
        assertTrue(pool.size() <= 3 && pool.idle() == pool.size(), pool.size() + " " + pool.idle());
    }

    @Test
    void whatIsLeftOpenIsRolledBackOrClosed() {
        pool.with(connection -> connection.execute("begin"));
        assertEquals(1, pool.idle());
        assertEquals(false, pool.with(Connection::inTransaction));
        pool.with(connection -> connection.stream("select generate_series(1, 10)"));
        assertEquals(0, pool.size());
        pool.with(connection -> {
            connection.close();
            return null;
        });
        assertEquals(0, pool.size());
        assertThrows(IllegalStateException.class, () -> pool.with(connection -> {
            throw new IllegalStateException("the program's own");
        }));
        assertEquals(1, pool.idle());
        assertEquals(2, pool.transaction(TransactionMode.DEFAULT, tx -> tx.query("select 2").one()).getInt(0));
        assertEquals(2, pool.pipeline(List.of(Query.of("select 1"), Query.of("select 2"))).size());
    }

    /** After a restart of the server, or behind a firewall that forgets, nobody is lent a dead connection. */
    @Test
    void aConnectionThatHasDiedWhileItLayIdle() {
        try (Pool two = Pool.open(server.builder().build(), Pool.Settings.DEFAULT.connectionsMax(2).checkAfter(Duration.ZERO));
                Connection other = server.connect()) {
            int victim = two.with(Connection::processId);
            other.query("select pg_terminate_backend(pid) from pg_stat_activity where pid = $1", victim);
            if (server.isDirect()) {
                while (other.query("select from pg_stat_activity where pid = $1", victim).size() > 0) {
                    Thread.onSpinWait();
                }
            }
            assertEquals(1, two.query("select 1").one().getInt(0));
            assertEquals(1, two.size());
        }
    }

    @Test
    void aServerThatDiesInTheMiddleOfAResult() {
        if (!server.isDirect()) {
            // The process that a proxy names is none of the server's.
            return;
        }
        try (Connection other = server.connect()) {
            var error = assertThrows(PostgresException.class, () -> pool.with(connection -> {
                Query endless = Query.of("select i, repeat('x', 1000) from generate_series(1, 100000000) i").fetchRows(100);
                return connection.reduce(endless, 0, (count, row) -> {
                    if (count == 250) {
                        other.query("select pg_terminate_backend($1)", connection.processId());
                    }
                    return count + 1;
                });
            }));
            assertTrue("57P01".equals(error.sqlState()) || "08006".equals(error.sqlState()), error.toString());
            assertEquals(0, pool.size());
            assertEquals(1, pool.query("select 1").one().getInt(0));
        }
    }

    @Test
    void hearsOfAllThatItsConnectionsDo() {
        var heard = new ArrayList<String>();
        pool.query("select 0");
        pool.onQuery((sql, nanoseconds, rows, error) -> heard.add(sql + " " + rows + " " + (error == null)));
        pool.query("select 1");
        pool.with(connection -> connection.reduce(Query.of("select generate_series(1, 5)"), 0, (sum, row) -> sum + 1));
        pool.with(connection -> connection.reduce(Query.of("select generate_series(1, 6)"), 0, (sum, row) -> sum + 1,
                sum -> sum == 2));
        pool.with(connection -> {
            connection.copyOut("copy (select generate_series(1, 7)) to stdout").rows(new int[] {23}, row -> {});
            return null;
        });
        assertThrows(PostgresException.class, () -> pool.with(connection -> connection.stream("selec")));
        assertEquals(List.of("select 1 1 true", "select generate_series(1, 5) 5 true", "select generate_series(1, 6) 2 true",
                "copy (select generate_series(1, 7)) to stdout 7 true", "selec 0 false"), heard);
    }

    @Test
    void whateverIsThrownNoPlaceIsLost() {
        try (Pool one = Pool.open(server.builder().build(), Pool.Settings.DEFAULT.connectionsMax(1))) {
            one.onConnect(connection -> {
                throw new AssertionError("the program's own");
            });
            assertThrows(AssertionError.class, () -> one.query("select 1"));
            assertEquals(0, one.size());
            one.onConnect(connection -> {});
            // A stream left open in a transaction: what the work has thrown is what is heard.
            assertThrows(IllegalArgumentException.class, () -> one.with(connection -> {
                connection.execute("begin");
                connection.stream("select generate_series(1, 10)");
                throw new IllegalArgumentException("the program's own");
            }));
            assertEquals(0, one.size());
            assertEquals(1, one.query("select 1").one().getInt(0));
        }
    }

    @Test
    void saysWhenAllAreInUse() {
        try (Pool one = Pool.open(server.builder().build(),
                Pool.Settings.DEFAULT.connectionsMax(1).waitMax(Duration.ofMillis(50)))) {
            one.with(connection -> assertThrows(ConnectionException.class, () -> one.query("select 1")));
            assertEquals(1, one.query("select 1").one().getInt(0));
        }
    }

    @Test
    void aClosedPoolLetsNobodyWait() throws InterruptedException {
        var begun = new CountDownLatch(1);
        var end = new CountDownLatch(1);
        try (Pool one = Pool.open(server.builder().build(), Pool.Settings.DEFAULT.connectionsMax(1))) {
            var holder = new Thread(() -> one.with(connection -> {
                begun.countDown();
                try {
                    return end.await(20, java.util.concurrent.TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }));
            holder.start();
            begun.await();
            var thrown = new ArrayList<Throwable>();
            var waiter = new Thread(() -> {
                try {
                    one.query("select 1");
                } catch (PostgresException e) {
                    thrown.add(e);
                }
            });
            waiter.start();
            while (one.waiting() == 0) {
                Thread.onSpinWait();
            }
            one.close();
            waiter.join();
            assertEquals(1, thrown.size());
            end.countDown();
            holder.join();
            assertEquals(0, one.size());
        }
    }

    @Test
    void aFailedConnectionGivesItsPlaceBack() {
        try (Pool wrong = Pool.open(server.builder().password("wrong").build(), Pool.Settings.DEFAULT.connectionsMax(1))) {
            for (int i = 0; i < 3; i++) {
                assertThrows(PostgresException.class, () -> wrong.query("select 1"));
                assertEquals(0, wrong.size());
            }
        }
    }
}
