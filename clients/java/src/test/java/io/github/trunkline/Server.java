package io.github.trunkline;

import io.github.trunkline.config.Config;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * A server that {@code clients/run} has started, by itself or behind the proxy. Its users and password are the test
 * kit's (crates/dev/testkit/src/cluster.rs).
 */
public record Server(int version, String way, int port, Path folder) {
    public static final String VARIABLE = "TRUNKLINE_TEST_SERVERS";
    public static final String PASSWORD = "correct-horse";

    /** All of them. */
    public static List<Server> all() {
        return Arrays.stream(System.getenv(VARIABLE).split(",")).map(text -> text.split("\\|"))
                .map(w -> new Server(Integer.parseInt(w[0]), w[1], Integer.parseInt(w[2]), Path.of(w[3]))).toList();
    }

    /** Those that no proxy stands before. */
    public static List<Server> direct() {
        return all().stream().filter(Server::isDirect).toList();
    }

    /** Those where a session keeps what it has set: all but the proxy in transaction mode. */
    public static List<Server> withSessions() {
        return all().stream().filter(Server::keepsSessions).toList();
    }

    public boolean isDirect() {
        return way.equals("direct");
    }

    /** {@code way} is direct, or the mode of the proxy before it. */
    public boolean keepsSessions() {
        return !way.equals("transaction");
    }

    public Config.Builder builder() {
        return Config.builder().host("127.0.0.1").port(port).user("app").password(PASSWORD).database("app")
                .set("sslmode", "disable");
    }

    public Connection connect() {
        return Connection.connect(builder().build());
    }

    @Override
    public String toString() {
        return "PostgreSQL " + version + " " + way;
    }
}
