package io.github.trunkline;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.trunkline.pool.Pool;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Many virtual threads share few connections. On a JVM without them there is nothing to try. */
@EnabledIfEnvironmentVariable(named = Server.VARIABLE, matches = ".+")
@ParameterizedClass
@MethodSource("io.github.trunkline.Server#all")
class VirtualThreadsTest {
    private static final int THREADS = 200;

    private final Server server;

    VirtualThreadsTest(Server server) {
        this.server = server;
    }

    /** Compiled for Java 17, which has none. */
    private static ExecutorService virtualThreads() throws ReflectiveOperationException {
        Method make = Executors.class.getMethod("newVirtualThreadPerTaskExecutor");
        return (ExecutorService) make.invoke(null);
    }

    @Test
    void shareAPool() throws Exception {
        if (Runtime.version().feature() < 21) {
            return;
        }
        ExecutorService threads = virtualThreads();
        try (Pool pool = Pool.open(server.builder().build(), Pool.Settings.DEFAULT.connectionsMax(3))) {
            var sum = new AtomicLong();
            var all = new ArrayList<Future<?>>();
            for (int i = 0; i < THREADS; i++) {
                int number = i;
                all.add(threads.submit(() -> {
                    sum.addAndGet(pool.query("select $1::int8, pg_sleep(0.001)", number).one().getLong(0));
                    pool.with(connection -> connection.reduce(Query.of("select generate_series(1, 10)").fetchRows(3), 0,
                            (total, row) -> total + row.getInt(0)));
                    return null;
                }));
            }
            for (Future<?> one : all) {
                one.get();
            }
            assertEquals(THREADS * (THREADS - 1) / 2, sum.get());
        } finally {
            threads.shutdown();
        }
    }
}
