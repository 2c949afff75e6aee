package io.github.trunkline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.trunkline.config.Config;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever a thread waits for from the server ends when the thread is interrupted, at the server too. */
@EnabledIfEnvironmentVariable(named = Server.VARIABLE, matches = ".+")
@ParameterizedClass
@MethodSource("io.github.trunkline.Server#all")
class InterruptTest {
    /** Longer than any test waits. */
    private static final String SLEEP = "select pg_sleep(600)";

    private final Server server;

    InterruptTest(Server server) {
        this.server = server;
    }

    /** Runs {@code work} in a thread that is interrupted before it has begun, and gives what it threw. */
    private static Throwable interrupted(Runnable work) throws InterruptedException {
        var thrown = new AtomicReference<Throwable>();
        var thread = new Thread(() -> {
            Thread.currentThread().interrupt();
            try {
                work.run();
            } catch (Throwable e) {
                thrown.set(e);
            }
        });
        thread.start();
        thread.join(60_000);
        assertFalse(thread.isAlive(), "it still waits");
        return thrown.get();
    }

    private void cancels(Consumer<Connection> work) throws InterruptedException {
        try (Connection connection = server.connect()) {
            connection.script("drop table if exists waited; create table waited (i int)");
            Throwable thrown = interrupted(() -> work.accept(connection));
            assertEquals(CanceledException.class, thrown == null ? null : thrown.getClass(), "" + thrown);
            assertEquals(1, connection.query("select 1").one().getInt(0));
        }
    }

    @Test
    void queriesAndScripts() throws InterruptedException {
        cancels(connection -> connection.query(SLEEP));
        cancels(connection -> connection.script(SLEEP));
        cancels(connection -> connection.pipeline(java.util.List.of(Query.of("select 1"), Query.of(SLEEP))));
    }

    @Test
    void streams() throws InterruptedException {
        cancels(connection -> connection.stream(SLEEP).forEachRemaining(row -> {}));
        cancels(connection -> connection.forEach(
                Query.of("select i, case when i = 3 then pg_sleep(600) end from generate_series(1, 5) i").fetchRows(2),
                row -> {}));
    }

    @Test
    void copies() throws InterruptedException {
        cancels(connection -> {
            try {
                connection.copyOut("copy (" + SLEEP + ") to stdout").transferTo(java.io.OutputStream.nullOutputStream());
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        try (Connection other = server.connect()) {
            other.script("drop table if exists awaited; create table awaited (i int)");
            other.transaction(tx -> {
                tx.execute("lock table awaited");
                try {
                    cancels(connection -> connection.copyIn("copy awaited from stdin").finish());
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                return null;
            });
            other.execute("drop table awaited");
        }
    }

    /** So does the wait for another thread's query on the same connection. */
    @Test
    void theWaitForOnesTurn() throws InterruptedException {
        try (Connection connection = server.connect()) {
            var holder = new Thread(() -> {
                try {
                    connection.query(SLEEP);
                } catch (PostgresException e) {
                    // It is canceled below.
                }
            });
            holder.start();
            while (holder.isAlive() && !inQuery(holder)) {
                Thread.onSpinWait();
            }
            Throwable thrown = interrupted(() -> connection.query("select 1"));
            assertEquals(CanceledException.class, thrown == null ? null : thrown.getClass(), "" + thrown);
            assertTrue(holder.isAlive());
            holder.interrupt();
            holder.join();
            assertEquals(1, connection.query("select 1").one().getInt(0));
        }
    }

    private static boolean inQuery(Thread thread) {
        return java.util.Arrays.stream(thread.getStackTrace()).anyMatch(frame -> frame.getMethodName().equals("read"));
    }

    /** Java closes what an interrupted thread reads from a unix socket; the server must not go on for that. */
    @Test
    void onAUnixSocketTheServerIsToldToo() throws Exception {
        if (server.isDirect()) {
            endsAtTheServer(server.builder().host(server.folder().toString()).build(), work -> {
                var thread = new Thread(work);
                thread.start();
                return thread;
            });
        }
    }

    /** So it does with what a virtual thread reads from, whatever it is. Java 17 has none. */
    @Test
    void inAVirtualThreadTheServerIsToldToo() throws Exception {
        if (server.isDirect() && Runtime.version().feature() >= 21) {
            var start = Thread.class.getMethod("startVirtualThread", Runnable.class);
            endsAtTheServer(server.builder().build(), work -> (Thread) start.invoke(null, work));
        }
    }

    private interface Starter {
        Thread start(Runnable work) throws Exception;
    }

    private void endsAtTheServer(Config config, Starter starter) throws Exception {
        try (Connection watcher = server.connect()) {
            Connection connection = Connection.connect(config);
            var thrown = new AtomicReference<Throwable>();
            Thread thread = starter.start(() -> {
                try {
                    connection.query(SLEEP);
                } catch (Throwable e) {
                    thrown.set(e);
                }
            });
            String sleeping = "select from pg_stat_activity where pid = $1 and state = 'active'";
            String there = "select from pg_stat_activity where pid = $1";
            while (watcher.query(sleeping + " and query = '" + SLEEP + "' and wait_event = 'PgSleep'",
                    connection.processId()).size() == 0) {
                assertTrue(thread.isAlive(), "" + thrown);
            }
            thread.interrupt();
            thread.join(60_000);
            assertEquals(CanceledException.class, thrown.get() == null ? null : thrown.get().getClass(), "" + thrown);
            long end = System.nanoTime() + Duration.ofSeconds(60).toNanos();
            while (watcher.query(there, connection.processId()).size() > 0) {
                assertTrue(System.nanoTime() < end, "the server still sleeps");
                Thread.sleep(20);
            }
            assertFalse(connection.isOpen());
        }
    }
}
