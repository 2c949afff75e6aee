package io.github.trunkline.bench;

import clojure.lang.ITransientCollection;
import clojure.lang.ITransientMap;
import clojure.lang.Keyword;
import clojure.lang.PersistentArrayMap;
import clojure.lang.PersistentVector;
import io.github.trunkline.Connection;
import io.github.trunkline.Query;
import io.github.trunkline.bench.Measure.Way;
import io.github.trunkline.clojure.Keys;
import io.github.trunkline.clojure.Results;
import io.github.trunkline.clojure.RowMap;
import io.github.trunkline.config.Config;
import io.github.trunkline.row.Row;
import io.github.trunkline.row.Rows;
import io.vertx.pgclient.PgConnectOptions;
import io.vertx.pgclient.PgConnection;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Tuple;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The connections and ways of one query. The floors: {@code socket} reads the same bytes into one buffer and looks for the
 * end only; {@code slab} reads them into slabs of 128 KiB that it keeps, and steps from header to header, which is the
 * least that anyone does who keeps rows.
 */
final class Contenders implements AutoCloseable {
    private final String sql;
    private final Connection ours;
    private final java.sql.Connection jdbc;
    private final PreparedStatement jdbcStatement;
    private final Vertx vertx = Vertx.vertx();
    private final PgConnection vertxConnection;
    private final io.vertx.sqlclient.PreparedStatement vertxStatement;
    private final Bare bare;

    Contenders(int port, String sql) throws Exception {
        this.sql = sql;
        ours = Connection.connect(config(port));
        // Prepared and in binary from the first run on, as ours is.
        jdbc = DriverManager.getConnection(jdbcUrl(port));
        jdbcStatement = jdbc.prepareStatement(sql);
        vertxConnection = PgConnection.connect(vertx, vertxOptions(port)).toCompletionStage().toCompletableFuture().get();
        vertxStatement = vertxConnection.prepare(sql).toCompletionStage().toCompletableFuture().get();
        bare = new Bare(port, sql);
    }

    static Config config(int port) {
        return Config.builder().host("127.0.0.1").port(port).user("trusted").database("app").set("sslmode", "disable")
                .build();
    }

    static String jdbcUrl(int port) {
        return "jdbc:postgresql://127.0.0.1:" + port + "/app?user=trusted&sslmode=disable&prepareThreshold=-1";
    }

    static PgConnectOptions vertxOptions(int port) {
        return new PgConnectOptions().setHost("127.0.0.1").setPort(port).setUser("trusted").setDatabase("app")
                .setCachePreparedStatements(true);
    }

    Map<String, Way> ways() {
        var ways = new LinkedHashMap<String, Way>();
        ways.put("socket", bare::socket);
        ways.put("slab", bare::slab);
        ways.put("rows, untouched", () -> ours.query(sql));
        ways.put("rows as objects, untouched", this::held);
        ways.put("Clojure maps, untouched", () -> maps(ours.query(sql)));
        ways.put("rows, forced", () -> ours.queryValues(sql));
        ways.put("rows, kept and then forced", () -> ours.query(sql).values());
        ways.put("rows, eager", this::eager);
        ways.put("rows, streamed", this::streamed);
        ways.put("Clojure maps, streamed", this::streamedMaps);
        ways.put("text format, forced", () -> ours.script(sql).get(0).values());
        ways.put("pgjdbc Object[]", this::jdbcObjects);
        ways.put("next.jdbc's maps on pgjdbc", () -> maps(jdbcStatement));
        ways.put("vertx-pg-client rows", this::vertxRows);
        return ways;
    }

    static Object maps(Rows rows) {
        return Results.maps(rows, Keys.keywords(rows.columns()));
    }

    private Object held() {
        var rows = ours.query(sql);
        var list = new Row[rows.size()];
        int[] index = {0};
        rows.forEach(row -> list[index[0]++] = row);
        return list;
    }

    /** What this client would be without lazy rows: each row decoded as it comes. */
    private Object eager() {
        var all = new ArrayList<Object[]>();
        ours.forEach(Query.of(sql).fetchRows(0), row -> all.add(row.values()));
        return all;
    }

    /** Every value, none kept. */
    private Object streamed() {
        var values = new Object[60];
        return ours.reduce(Query.of(sql).fetchRows(0), 0L, (sum, row) -> {
            row.values(values);
            return sum + values[0].hashCode();
        });
    }

    /** Every value of a map, as a Clojure program reads it. */
    private Object streamedMaps() {
        Object[] last = {null};
        ours.forEach(Query.of(sql).fetchRows(0), row -> last[0] = RowMap.of(Keys.keywords(row.columns()), row).toMap());
        return last[0];
    }

    private Object jdbcObjects() throws SQLException {
        var all = new ArrayList<Object[]>();
        try (ResultSet result = jdbcStatement.executeQuery()) {
            int width = result.getMetaData().getColumnCount();
            while (result.next()) {
                var row = new Object[width];
                for (int i = 0; i < width; i++) {
                    row[i] = result.getObject(i + 1);
                }
                all.add(row);
            }
        }
        return all;
    }

    /**
     * As next.jdbc builds its maps (it is not on Maven Central): a transient map for each row, keyed by keywords made once
     * for the result, and a vector of them.
     */
    static Object maps(PreparedStatement statement) throws SQLException {
        ITransientCollection all = PersistentVector.EMPTY.asTransient();
        try (ResultSet result = statement.executeQuery()) {
            var meta = result.getMetaData();
            int width = meta.getColumnCount();
            var keys = new Object[width];
            for (int i = 0; i < width; i++) {
                keys[i] = Keyword.intern(null, meta.getColumnLabel(i + 1));
            }
            while (result.next()) {
                ITransientMap row = PersistentArrayMap.EMPTY.asTransient();
                for (int i = 0; i < width; i++) {
                    row = row.assoc(keys[i], result.getObject(i + 1));
                }
                all = all.conj(row.persistent());
            }
        }
        return all.persistent();
    }

    /** It decodes all while it reads. */
    private Object vertxRows() throws Exception {
        return vertxStatement.query().execute(Tuple.tuple()).toCompletionStage().toCompletableFuture().get();
    }

    @Override
    public void close() throws Exception {
        ours.close();
        jdbc.close();
        vertx.close().toCompletionStage().toCompletableFuture().get();
        bare.close();
    }
}
