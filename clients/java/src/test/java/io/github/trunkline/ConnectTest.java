package io.github.trunkline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.trunkline.config.Config;
import io.github.trunkline.config.SslMode;
import io.github.trunkline.config.TargetServer;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

@EnabledIfEnvironmentVariable(named = Server.VARIABLE, matches = ".+")
@ParameterizedClass
@MethodSource("io.github.trunkline.Server#direct")
class ConnectTest {
    private final Server server;

    ConnectTest(Server server) {
        this.server = server;
    }

    private static String whoAmI(Config config) {
        try (Connection connection = Connection.connect(config)) {
            return connection.query("select current_user::text").one().getString(0);
        }
    }

    private Config.Builder tls(SslMode mode) {
        return server.builder().sslMode(mode);
    }

    private static boolean isEncrypted(Config config) {
        try (Connection connection = Connection.connect(config)) {
            return connection.query("select ssl from pg_stat_ssl where pid = pg_backend_pid()").one().getBoolean(0);
        }
    }

    @Test
    void logsInByEveryMethod() {
        for (String user : new String[] {"app", "md5user", "plainuser", "trusted"}) {
            assertEquals(user, whoAmI(server.builder().user(user).build()));
        }
    }

    @Test
    void logsInOverAUnixSocket() {
        assertEquals("app", whoAmI(server.builder().host(server.folder().toString()).build()));
        // Without a password, and sslmode does not matter there.
        assertEquals("postgres", whoAmI(Config.builder().host(server.folder().toString()).port(server.port())
                .user("postgres").database("app").sslMode(SslMode.VERIFY_FULL).build()));
    }

    @Test
    void saysWhyALoginFails() {
        var wrong = assertThrows(ServerException.class, () -> whoAmI(server.builder().password("wrong").build()));
        assertEquals("28P01", wrong.sqlState());
        var none = assertThrows(ConnectionException.class, () -> whoAmI(server.builder().password(null).build()));
        assertTrue(none.getMessage().contains("password"), none.getMessage());
        var nowhere = assertThrows(ServerException.class, () -> whoAmI(server.builder().database("nowhere").build()));
        assertEquals("3D000", nowhere.sqlState());
    }

    @Test
    void usesTlsAsSslmodeSays() {
        assertEquals(false, isEncrypted(tls(SslMode.DISABLE).build()));
        assertEquals(false, isEncrypted(tls(SslMode.ALLOW).build()));
        assertEquals(true, isEncrypted(tls(SslMode.PREFER).build()));
        assertEquals(true, isEncrypted(tls(SslMode.REQUIRE).build()));
        var root = server.folder().resolve("server.crt");
        assertEquals(true, isEncrypted(tls(SslMode.VERIFY_CA).sslRootCertificate(root).build()));
        assertEquals(true, isEncrypted(tls(SslMode.VERIFY_FULL).host("localhost").sslRootCertificate(root).build()));
        // This JVM's own authorities do not vouch for the test's certificate.
        assertThrows(ConnectionException.class, () -> whoAmI(tls(SslMode.VERIFY_CA).build()));
        assertThrows(ConnectionException.class, () -> whoAmI(tls(SslMode.VERIFY_FULL).build()));
    }

    @Test
    void beginsTlsAtOnce() {
        var root = server.folder().resolve("server.crt");
        Config direct = tls(SslMode.VERIFY_FULL).host("localhost").sslRootCertificate(root)
                .set("sslnegotiation", "direct").build();
        if (server.version() >= 17) {
            assertEquals(true, isEncrypted(direct));
            // So is the connection that a cancel request takes.
            try (Connection connection = Connection.connect(direct)) {
                assertThrows(CanceledException.class,
                        () -> connection.query(Query.of("select pg_sleep(600)").timeout(Duration.ofMillis(50))));
            }
        } else {
            assertThrows(ConnectionException.class, () -> whoAmI(direct));
        }
    }

    @Test
    void looksItsPasswordUp(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("passwords"),
                "127.0.0.1:" + server.port() + ":app:*:" + Server.PASSWORD + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        for (String user : new String[] {"app", "md5user", "plainuser"}) {
            assertEquals(user, whoAmI(server.builder().user(user).password(null).passFile(file).build()));
        }
        Config config = server.builder().password(null).passFile(file).database("postgres").build();
        var none = assertThrows(ConnectionException.class, () -> whoAmI(config));
        assertTrue(none.getMessage().contains(file.toString()), none.getMessage());
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        var open = assertThrows(ConnectionException.class, () -> whoAmI(config));
        assertTrue(open.getMessage().contains("chmod 600"), open.getMessage());
    }

    @Test
    void connectsToAnAddressAndChecksTheName() {
        var root = server.folder().resolve("server.crt");
        Config.Builder named = tls(SslMode.VERIFY_FULL).sslRootCertificate(root).set("hostaddr", "127.0.0.1");
        assertEquals("app", whoAmI(named.host("localhost").build()));
        assertThrows(ConnectionException.class, () -> whoAmI(named.host("nowhere.invalid").build()));
        assertEquals("app", whoAmI(tls(SslMode.DISABLE).host("nowhere.invalid").set("hostaddr", "127.0.0.1").build()));
    }

    @Test
    void bindsScramToTls() {
        assertEquals("app", whoAmI(tls(SslMode.REQUIRE).set("channel_binding", "require").build()));
        assertThrows(ConnectionException.class,
                () -> whoAmI(tls(SslMode.DISABLE).set("channel_binding", "require").build()));
        assertThrows(ConnectionException.class,
                () -> whoAmI(tls(SslMode.REQUIRE).user("md5user").set("channel_binding", "require").build()));
        assertThrows(ConnectionException.class,
                () -> whoAmI(tls(SslMode.REQUIRE).user("trusted").set("channel_binding", "require").build()));
        assertEquals("app", whoAmI(tls(SslMode.REQUIRE).set("channel_binding", "disable").build()));
    }

    @Test
    void speaksProtocol30And32() {
        assertEquals("app", whoAmI(server.builder().protocolMinor(0).build()));
        assertEquals("app", whoAmI(server.builder().protocolMinor(2).build()));
        Config newest = server.builder().set("min_protocol_version", "3.2").build();
        if (server.version() >= 18) {
            assertEquals("app", whoAmI(newest));
        } else {
            var old = assertThrows(ConnectionException.class, () -> whoAmI(newest));
            assertTrue(old.getMessage().contains("min_protocol_version"), old.getMessage());
        }
    }

    @Test
    void takesTheFirstHostThatSuits() throws IOException {
        int closedPort;
        try (var socket = new ServerSocket(0)) {
            closedPort = socket.getLocalPort();
        }
        String hosts = "postgres://app:" + Server.PASSWORD + "@127.0.0.1:" + closedPort + ",127.0.0.1:" + server.port()
                + "/app?target_session_attrs=";
        assertEquals("app", whoAmI(Config.of(hosts + "primary")));
        assertEquals("app", whoAmI(Config.of(hosts + "read-write")));
        assertEquals("app", whoAmI(Config.of(hosts + "prefer-standby")));
        var none = assertThrows(ConnectionException.class, () -> whoAmI(Config.of(hosts + "standby")));
        assertTrue(none.getMessage().contains("" + closedPort), none.getMessage());
        assertThrows(ConnectionException.class, () -> whoAmI(server.builder().targetServer(TargetServer.READ_ONLY).build()));
        assertEquals("app", whoAmI(server.builder().targetServer(TargetServer.READ_ONLY)
                .parameter("default_transaction_read_only", "on").build()));
    }

    @Test
    void givesUpOnAServerThatSaysNothing() throws IOException {
        try (var silent = new ServerSocket(0)) {
            for (SslMode mode : new SslMode[] {SslMode.DISABLE, SslMode.REQUIRE}) {
                Config config = tls(mode).port(silent.getLocalPort()).connectTimeout(Duration.ofMillis(200)).build();
                var error = assertThrows(PostgresException.class, () -> Connection.connect(config));
                assertTrue(error instanceof CanceledException || error instanceof ConnectionException, "" + error);
            }
        }
    }

    @Test
    void setsTheSessionsParameters() {
        Config config = server.builder().parameter("search_path", "a, b").parameter("application_name", "till").build();
        try (Connection connection = Connection.connect(config)) {
            assertEquals("a, b", connection.query("show search_path").one().getString(0));
            assertEquals("till", connection.parameter("application_name"));
            assertEquals("UTF8", connection.parameter("client_encoding"));
        }
    }
}
