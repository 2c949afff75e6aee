package io.github.trunkline.bench;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.trunkline.Connection;
import io.github.trunkline.bench.Measure.Figures;
import io.github.trunkline.bench.Measure.Way;
import io.github.trunkline.pool.Pool;
import io.vertx.core.Vertx;
import io.vertx.pgclient.PgBuilder;
import io.vertx.sqlclient.PoolOptions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** {@value #THREADS} threads share a pool of {@value #CONNECTIONS} connections: {@code PoolBench REPORT PORT ROUNDS}. */
public final class PoolBench {
    private static final int THREADS = 8;
    private static final int CONNECTIONS = 4;
    private static final int QUERIES = 100;
    private static final int RUNS = 5;
    private static final int WARM_ROUNDS = 6;

    private PoolBench() {}

    public static void main(String[] arguments) throws Exception {
        var report = new Report(arguments[0]);
        int port = Integer.parseInt(arguments[1]);
        int rounds = Integer.parseInt(arguments[2]);
        try (var setup = Connection.connect(Contenders.config(port))) {
            setup.script(Shapes.setup());
        }
        var threads = Executors.newFixedThreadPool(THREADS);
        var vertx = Vertx.vertx();
        var bare = new ArrayList<Bare>();
        for (int i = 0; i < THREADS; i++) {
            bare.add(new Bare(port, Shapes.FEW));
        }
        var hikari = new HikariConfig();
        hikari.setJdbcUrl(Contenders.jdbcUrl(port));
        hikari.setMaximumPoolSize(CONNECTIONS);
        try (Pool pool = Pool.open(Contenders.config(port), Pool.Settings.DEFAULT.connectionsMax(CONNECTIONS));
                var jdbc = new HikariDataSource(hikari)) {
            var vertxPool = PgBuilder.pool().with(new PoolOptions().setMaxSize(CONNECTIONS))
                    .connectingTo(Contenders.vertxOptions(port)).using(vertx).build();
            var ways = new LinkedHashMap<String, Way>();
            ways.put("socket, one for each thread", all(threads, i -> bare.get(i).socket()));
            ways.put("slab, one for each thread", all(threads, i -> bare.get(i).slab()));
            ways.put("rows, untouched", all(threads, i -> pool.query(Shapes.FEW)));
            ways.put("Clojure maps, untouched", all(threads, i -> Contenders.maps(pool.query(Shapes.FEW))));
            ways.put("rows, forced", all(threads, i -> pool.query(Shapes.FEW).values()));
            ways.put("next.jdbc's maps on pgjdbc and HikariCP", all(threads, i -> {
                try (var connection = jdbc.getConnection(); var statement = connection.prepareStatement(Shapes.FEW)) {
                    return Contenders.maps(statement);
                }
            }));
            ways.put("vertx-pg-client rows", all(threads, i -> vertxPool.preparedQuery(Shapes.FEW).execute()
                    .toCompletionStage().toCompletableFuture().get()));
            write(report, Measure.inTurns(ways, RUNS, WARM_ROUNDS, rounds));
        }
        System.exit(0);
    }

    /** What the thread of a number does for each query. */
    private interface Work {
        Object run(int thread) throws Exception;
    }

    private static Way all(ExecutorService threads, Work work) {
        return () -> {
            var running = new ArrayList<Future<?>>();
            for (int t = 0; t < THREADS; t++) {
                int thread = t;
                running.add(threads.submit(() -> {
                    for (int i = 0; i < QUERIES; i++) {
                        work.run(thread);
                    }
                    return null;
                }));
            }
            for (Future<?> each : running) {
                each.get();
            }
            return null;
        };
    }

    private static void write(Report report, Map<String, Figures> figures) {
        double queries = THREADS * QUERIES / 1000.0;
        double slab = figures.get("slab, one for each thread").cpu();
        report.table("Pool: " + THREADS + " threads, " + CONNECTIONS + " connections, " + Shapes.FEW_ROWS
                + " rows of nine columns a query", "way", "CPU us a query", "to slab", "queries/s");
        figures.forEach((way, f) -> {
            report.row(way, "%.2f", f.cpu() / queries, f.cpu() / slab, queries * 1e6 / f.wall());
            report.value("pool", way, f.cpu() / queries, queries * 1e6 / f.wall());
        });
    }
}
