package io.github.trunkline.bench;

import io.github.trunkline.Connection;
import io.github.trunkline.Query;
import io.github.trunkline.clojure.Keys;
import io.github.trunkline.clojure.Results;
import io.github.trunkline.clojure.RowMap;
import io.github.trunkline.config.Config;
import io.github.trunkline.row.Row;
import io.github.trunkline.wire.Bytes;
import io.github.trunkline.wire.Frontend;
import io.github.trunkline.wire.Out;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.net.Socket;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * 50,000 rows read in several ways, interleaved: milliseconds of the calling thread's CPU, of the wall clock, and megabytes
 * allocated; the median of each. {@code Rows PORT ROUNDS [SHAPE...]}; a server with user trusted and database app.
 *
 * <p>The floors: {@code socket} reads the same bytes into one buffer and looks for the end only; {@code slab} reads them
 * into slabs of 128 KiB that it keeps, and steps from header to header, which is the least that anyone does who keeps rows.
 */
public final class Rows {
    private static final int ROWS = 50_000;
    private static final int WARM_ROUNDS = 15;
    private static final com.sun.management.ThreadMXBean THREADS =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

    private static volatile Object sink;

    /** One way to run the query and read its rows. */
    private interface Way {
        Object run() throws Exception;
    }

    private Rows() {}

    private static final Map<String, String> SHAPES = new LinkedHashMap<>();

    static {
        SHAPES.put("one", "select i::int8 from generate_series(1, " + ROWS + ") i");
        SHAPES.put("nine", "select i::int8 as id, i::int4 as n, 'name ' || i as name, i % 2 = 0 as yes, "
                + "i / 7.0::float8 as ratio, (i || '.25')::numeric as price, "
                + "timestamptz '2024-01-01 00:00:00+00' + i * interval '1 second' as at, "
                + "date '2024-01-01' + i % 1000 as day, "
                + "('00000000-0000-0000-0000-' || lpad(i::text, 12, '0'))::uuid as key from generate_series(1, " + ROWS
                + ") i");
        SHAPES.put("json", "select i::int8 as id, jsonb_build_object('id', i, 'name', 'name ' || i, 'tags', "
                + "jsonb_build_array('a', 'b', i)) as doc from generate_series(1, " + ROWS + ") i");
        var sixty = new StringBuilder("select ");
        for (int i = 0; i < 60; i++) {
            sixty.append(i == 0 ? "" : ", ").append("timestamptz '2024-01-01 00:00:00+00' + i * interval '1 second' + ")
                    .append(i).append(" * interval '1 hour' as t").append(i);
        }
        SHAPES.put("sixty", sixty + " from generate_series(1, " + ROWS + ") i");
    }

    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(arguments[0]);
        int rounds = Integer.parseInt(arguments[1]);
        List<String> shapes = arguments.length > 2 ? Arrays.asList(arguments).subList(2, arguments.length)
                : List.copyOf(SHAPES.keySet());
        System.out.printf("JDK %s, %d rows, median of %d rounds%n", Runtime.version(), ROWS, rounds);
        for (String shape : shapes) {
            try (var bench = new Bench(port, SHAPES.get(shape))) {
                measure(shape, bench.ways(), rounds);
            }
        }
    }

    private static void measure(String shape, Map<String, Way> ways, int rounds) throws Exception {
        var cpu = new LinkedHashMap<String, double[]>();
        var wall = new LinkedHashMap<String, double[]>();
        var allocated = new LinkedHashMap<String, double[]>();
        for (String way : ways.keySet()) {
            cpu.put(way, new double[rounds]);
            wall.put(way, new double[rounds]);
            allocated.put(way, new double[rounds]);
        }
        for (int round = -WARM_ROUNDS; round < rounds; round++) {
            for (var way : ways.entrySet()) {
                long bytes = THREADS.getCurrentThreadAllocatedBytes();
                long cpuBegin = THREADS.getCurrentThreadCpuTime();
                long begin = System.nanoTime();
                sink = way.getValue().run();
                if (round >= 0) {
                    wall.get(way.getKey())[round] = (System.nanoTime() - begin) / 1e6;
                    cpu.get(way.getKey())[round] = (THREADS.getCurrentThreadCpuTime() - cpuBegin) / 1e6;
                    allocated.get(way.getKey())[round] = (THREADS.getCurrentThreadAllocatedBytes() - bytes) / 1e6;
                }
                sink = null;
            }
        }
        System.out.printf("%n%-8s %-22s %9s %9s %9s %9s %9s%n", "shape", "way", "cpu ms", "to socket", "to slab", "wall ms",
                "MB");
        double socket = median(cpu.get("socket"));
        double slab = median(cpu.get("slab"));
        for (String way : ways.keySet()) {
            double ms = median(cpu.get(way));
            System.out.printf("%-8s %-22s %9.2f %9.2f %9.2f %9.1f %9.2f%n", shape, way, ms, ms / socket, ms / slab,
                    median(wall.get(way)), median(allocated.get(way)));
        }
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    /** The connections and ways of one shape. */
    private static final class Bench implements AutoCloseable {
        private final String sql;
        private final Connection ours;
        private final java.sql.Connection jdbc;
        private final PreparedStatement jdbcStatement;
        private final Bare bare;

        Bench(int port, String sql) throws Exception {
            this.sql = sql;
            ours = Connection.connect(Config.builder().host("127.0.0.1").port(port).user("trusted").database("app")
                    .set("sslmode", "disable").build());
            // Prepared and in binary from the first run on, as ours is.
            jdbc = DriverManager.getConnection("jdbc:postgresql://127.0.0.1:" + port
                    + "/app?user=trusted&sslmode=disable&prepareThreshold=-1");
            jdbcStatement = jdbc.prepareStatement(sql);
            bare = new Bare(port, sql);
        }

        Map<String, Way> ways() {
            var ways = new LinkedHashMap<String, Way>();
            ways.put("socket", bare::socket);
            ways.put("slab", bare::slab);
            ways.put("rows untouched", () -> ours.query(sql));
            ways.put("rows as objects", this::held);
            ways.put("maps untouched", () -> {
                var rows = ours.query(sql);
                return Results.maps(rows, Keys.keywords(rows.columns()));
            });
            ways.put("rows forced", () -> ours.query(sql).values());
            ways.put("rows streamed", this::streamed);
            ways.put("maps streamed", this::streamedMaps);
            ways.put("pgjdbc Object[]", this::jdbcObjects);
            ways.put("pgjdbc maps", this::jdbcMaps);
            return ways;
        }

        private Object held() {
            var rows = ours.query(sql);
            var list = new Row[rows.size()];
            int[] index = {0};
            rows.forEach(row -> list[index[0]++] = row);
            return list;
        }

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

        /** As next.jdbc builds its maps: a transient map for each row, keyed by keywords made once for the result. */
        private Object jdbcMaps() throws SQLException {
            var all = new ArrayList<Object>();
            try (ResultSet result = jdbcStatement.executeQuery()) {
                var meta = result.getMetaData();
                int width = meta.getColumnCount();
                var keys = new Object[width];
                for (int i = 0; i < width; i++) {
                    keys[i] = clojure.lang.Keyword.intern(null, meta.getColumnLabel(i + 1));
                }
                while (result.next()) {
                    clojure.lang.ITransientMap row = clojure.lang.PersistentArrayMap.EMPTY.asTransient();
                    for (int i = 0; i < width; i++) {
                        row = row.assoc(keys[i], result.getObject(i + 1));
                    }
                    all.add(row.persistent());
                }
            }
            return all;
        }

        @Override
        public void close() throws Exception {
            ours.close();
            jdbc.close();
            bare.close();
        }
    }

    /** A socket with a statement prepared on it, and nothing else. */
    private static final class Bare implements AutoCloseable {
        private final Socket socket;
        private final InputStream in;
        private final byte[] buffer = new byte[128 * 1024];

        Bare(int port, String sql) throws IOException {
            socket = new Socket("127.0.0.1", port);
            socket.setTcpNoDelay(true);
            in = socket.getInputStream();
            var out = new Out();
            var frontend = new Frontend(out);
            frontend.startup(3, 0, List.of(Map.entry("user", "trusted"), Map.entry("database", "app")));
            send(out);
            pass();
            frontend.parse("s", sql);
            frontend.sync();
            send(out);
            pass();
        }

        private void send(Out out) throws IOException {
            socket.getOutputStream().write(out.array(), 0, out.size());
            out.clear();
        }

        /** Up to ReadyForQuery, slowly. */
        private void pass() throws IOException {
            var data = new DataInputStream(in);
            int type;
            do {
                type = data.readUnsignedByte();
                data.skipNBytes(data.readInt() - 4);
            } while (type != 'Z');
        }

        private void ask() throws IOException {
            var out = new Out();
            var frontend = new Frontend(out);
            frontend.bind("", "s", new short[0], new byte[0][], new short[] {1});
            frontend.execute("", 0);
            frontend.sync();
            send(out);
        }

        /** Only the last six bytes are looked at: ReadyForQuery is always the same. */
        Object socket() throws IOException {
            ask();
            long count = 0;
            while (true) {
                int n = in.read(buffer, 0, buffer.length);
                if (n < 0) {
                    throw new IOException("the server hung up");
                }
                count += n;
                if (n >= 6 && buffer[n - 6] == 'Z' && buffer[n - 2] == 5 && buffer[n - 1] == 'I') {
                    return count;
                }
            }
        }

        /** Slabs, and where in them each row begins. */
        Object slab() throws IOException {
            ask();
            var slabs = new ArrayList<byte[]>();
            var offsets = new int[1024];
            int rows = 0;
            byte[] slab = new byte[128 * 1024];
            slabs.add(slab);
            int from = 0;
            int to = 0;
            while (true) {
                int n = in.read(slab, to, slab.length - to);
                if (n < 0) {
                    throw new IOException("the server hung up");
                }
                to += n;
                while (to - from >= 5) {
                    int size = Bytes.int32(slab, from + 1) + 1;
                    if (size > to - from) {
                        break;
                    }
                    if (slab[from] == 'D') {
                        if (rows == offsets.length) {
                            offsets = Arrays.copyOf(offsets, rows * 2);
                        }
                        offsets[rows++] = from;
                    } else if (slab[from] == 'Z') {
                        return List.of(slabs, offsets);
                    }
                    from += size;
                }
                if (to == slab.length) {
                    byte[] next = new byte[128 * 1024];
                    System.arraycopy(slab, from, next, 0, to - from);
                    to -= from;
                    from = 0;
                    slab = next;
                    slabs.add(slab);
                }
            }
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
