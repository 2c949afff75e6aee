package io.github.trunkline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.trunkline.config.Config;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Not through a proxy in transaction mode, where LISTEN has no meaning. */
@EnabledIfEnvironmentVariable(named = Server.VARIABLE, matches = ".+")
@ParameterizedClass
@MethodSource("io.github.trunkline.Server#withSessions")
class ListenTest {
    private static final Duration LONG = Duration.ofSeconds(30);

    private final Server server;

    ListenTest(Server server) {
        this.server = server;
    }

    private void hears(Config config) throws InterruptedException {
        try (Connection listener = Connection.connect(config); Connection other = server.connect()) {
            listener.listen("a \"channel\"");
            other.notify("a \"channel\"", "first");
            assertEquals(List.of(new Notification("a \"channel\"", "first", other.processId())),
                    listener.awaitNotifications(LONG));
            // Those that come with another answer are kept.
            listener.notify("a \"channel\"", "second");
            assertEquals("second", listener.notifications().get(0).payload());
            assertEquals(List.of(), listener.awaitNotifications(Duration.ofMillis(1)));
            listener.unlisten("a \"channel\"");
            other.notify("a \"channel\"", "third");
            assertEquals(List.of(), listener.awaitNotifications(Duration.ofMillis(20)));
            assertEquals(1, listener.query("select 1").one().getInt(0));
        }
    }

    @Test
    void hearsOverTcpTlsAndUnixSockets() throws InterruptedException {
        hears(server.builder().build());
        // The tests' proxy has neither of these.
        if (server.isDirect()) {
            hears(server.builder().set("sslmode", "require").build());
            hears(server.builder().host(server.folder().toString()).build());
        }
    }

    @Test
    void dropsTheOldestWhenNobodyTakesThem() {
        try (Connection connection = Connection.connect(server.builder().notificationsMax(3).build())) {
            connection.listen("many");
            for (int i = 0; i < 5; i++) {
                connection.notify("many", "" + i);
            }
            assertEquals(List.of("2", "3", "4"),
                    connection.notifications().stream().map(Notification::payload).toList());
            assertEquals(2, connection.notificationsDropped());
        }
    }

    @Test
    void waitsNoLongerWhenTheServerEndsTheSession() {
        try (Connection listener = server.connect(); Connection other = server.connect()) {
            listener.listen("x");
            other.query("select pg_terminate_backend($1)", listener.processId());
            var ended = assertThrows(ServerException.class, () -> listener.awaitNotifications(LONG));
            assertEquals("57P01", ended.sqlState());
            assertThrows(ConnectionException.class, () -> listener.query("select 1"));
        }
    }

    @Test
    void anInterruptEndsTheWaitOnly() throws InterruptedException {
        try (Connection listener = server.connect()) {
            Thread.currentThread().interrupt();
            assertThrows(InterruptedException.class, () -> listener.awaitNotifications(LONG));
            assertEquals(1, listener.query("select 1").one().getInt(0));
        }
    }
}
