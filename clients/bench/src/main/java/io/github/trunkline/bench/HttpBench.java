package io.github.trunkline.bench;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.trunkline.Connection;
import io.github.trunkline.pool.Pool;
import io.github.trunkline.row.Columns;
import io.github.trunkline.row.Row;
import io.github.trunkline.row.Rows;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.math.BigDecimal;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executors;

/**
 * An HTTP server whose pages are a query's rows as JSON, a page for each way: {@code HttpBench PORT HTTP_PORT}. The page
 * /cpu says how many milliseconds of CPU the process has used. It ends when its standard input does.
 */
public final class HttpBench {
    /** As many as there may be requests at once. */
    private static final int THREADS = 64;
    private static final int CONNECTIONS = 8;
    private static final JsonFactory JSON = new JsonFactory();

    private HttpBench() {}

    /** Writes a page's rows. */
    private interface Page {
        void write(JsonGenerator json) throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(arguments[0]);
        try (var setup = Connection.connect(Contenders.config(port))) {
            setup.script(Shapes.setup());
        }
        Pool pool = Pool.open(Contenders.config(port), Pool.Settings.DEFAULT.connectionsMax(CONNECTIONS));
        var hikari = new HikariConfig();
        hikari.setJdbcUrl(Contenders.jdbcUrl(port));
        hikari.setMaximumPoolSize(CONNECTIONS);
        var jdbc = new HikariDataSource(hikari);
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[1])), 1024);
        server.setExecutor(Executors.newFixedThreadPool(THREADS));
        page(server, "/rows", json -> rows(json, pool.query(Shapes.FEW)));
        page(server, "/maps", json -> maps(json, (Iterable<?>) Contenders.maps(pool.query(Shapes.FEW))));
        page(server, "/eager", json -> maps(json, eager(pool.query(Shapes.FEW))));
        page(server, "/pgjdbc", json -> {
            Iterable<?> all;
            try (var connection = jdbc.getConnection(); var statement = connection.prepareStatement(Shapes.FEW)) {
                all = (Iterable<?>) Contenders.maps(statement);
            }
            maps(json, all);
        });
        server.createContext("/cpu", exchange -> answer(exchange, ("" + cpuMilliseconds()).getBytes(StandardCharsets.UTF_8)));
        server.start();
        System.out.println("ready");
        while (System.in.read() >= 0) {
            // Whoever started this holds the other end.
        }
        System.exit(0);
    }

    private static long cpuMilliseconds() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime() / 1_000_000;
    }

    private static void page(HttpServer server, String path, Page page) {
        server.createContext(path, exchange -> {
            var bytes = new java.io.ByteArrayOutputStream(32 * 1024);
            try (JsonGenerator json = JSON.createGenerator(bytes)) {
                page.write(json);
            } catch (Exception e) {
                throw new IOException(e);
            }
            answer(exchange, bytes.toByteArray());
        });
    }

    private static void answer(HttpExchange exchange, byte[] body) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(200, body.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(body);
        }
    }

    /** From row to page, each value decoded when it is written. */
    private static void rows(JsonGenerator json, Rows rows) throws IOException {
        Columns columns = rows.columns();
        var values = new Object[columns.size()];
        json.writeStartArray();
        for (Row row : rows) {
            row.values(values);
            json.writeStartObject();
            for (int i = 0; i < values.length; i++) {
                json.writeFieldName(columns.name(i));
                value(json, values[i]);
            }
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private static ArrayList<Map<String, Object>> eager(Rows rows) {
        Columns columns = rows.columns();
        var all = new ArrayList<Map<String, Object>>(rows.size());
        for (Row row : rows) {
            Object[] values = row.values();
            var map = new LinkedHashMap<String, Object>(values.length * 2);
            for (int i = 0; i < values.length; i++) {
                map.put(columns.name(i), values[i]);
            }
            all.add(map);
        }
        return all;
    }

    private static void maps(JsonGenerator json, Iterable<?> maps) throws IOException {
        json.writeStartArray();
        for (Object map : maps) {
            json.writeStartObject();
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) map).entrySet()) {
                json.writeFieldName(entry.getKey() instanceof clojure.lang.Keyword key ? key.getName() : (String) entry.getKey());
                value(json, entry.getValue());
            }
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private static void value(JsonGenerator json, Object value) throws IOException {
        if (value == null) {
            json.writeNull();
        } else if (value instanceof Long || value instanceof Integer) {
            json.writeNumber(((Number) value).longValue());
        } else if (value instanceof Double number) {
            json.writeNumber(number);
        } else if (value instanceof BigDecimal number) {
            json.writeNumber(number);
        } else if (value instanceof Boolean truth) {
            json.writeBoolean(truth);
        } else if (value instanceof java.sql.Timestamp time) {
            json.writeString(time.toInstant().toString());
        } else {
            json.writeString(value.toString());
        }
    }
}
