package io.github.trunkline.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConfigTest {
    @Test
    void readsUrls() {
        Config config = Config.of("postgresql://us%65r:p%40ss+word@db.example:6543/shop?sslmode=verify-full"
                + "&connect_timeout=3&application_name=till%201&target_session_attrs=read-write");
        assertEquals(List.of(new Host("db.example", 6543)), config.hosts());
        assertEquals("user", config.user());
        assertEquals("p@ss+word", config.password());
        assertEquals("shop", config.database());
        assertEquals(SslMode.VERIFY_FULL, config.sslMode());
        assertEquals(Duration.ofSeconds(3), config.connectTimeout());
        assertEquals(TargetServer.READ_WRITE, config.targetServer());
        assertEquals(Map.of("application_name", "till 1"), config.parameters());
        assertFalse(config.toString().contains("p@ss"));
    }

    @Test
    void readsSeveralHosts() {
        assertEquals(List.of(new Host("a", 1), new Host("::1", 2), new Host("b", 5432)),
                Config.of("postgres://u@a:1,[::1]:2,b/d").hosts());
        assertEquals(List.of(new Host("/run/pg", 5433)), Config.of("postgres://u@%2Frun%2Fpg:5433/d").hosts());
        assertEquals("/run/pg/.s.PGSQL.5433",
                Config.of("postgres:///d?host=/run/pg&port=5433&user=u").hosts().get(0).socketPath());
    }

    @Test
    void readsTheEnvironment() {
        Config config = Config.of(Environment.read(Map.of("PGHOST", "h1,h2", "PGPORT", "1,2", "PGUSER", "u",
                "PGPASSWORD", "p", "PGDATABASE", "d", "PGSSLMODE", "require", "PGTZ", "UTC", "PGDATESTYLE", "")));
        assertEquals(List.of(new Host("h1", 1), new Host("h2", 2)), config.hosts());
        assertEquals("UTC", config.parameters().get("TimeZone"));
        assertEquals(SslMode.REQUIRE, config.sslMode());
    }

    @Test
    void readsAddressesBesideNames() {
        assertEquals(List.of(new Host("a", 5432, "127.0.0.1"), new Host("b", 5432)),
                Config.of("postgres://u@a,b/d?hostaddr=127.0.0.1,").hosts());
        assertEquals(List.of(new Host("::1", 5432, "::1")), Config.of(Map.of("hostaddr", "::1", "user", "u")).hosts());
        assertEquals("b:5432", new Host("b", 5432, "127.0.0.1").toString());
    }

    @Test
    void takesWhatChangesNothing() {
        Config config = Config.of("postgres://u@h/d?gssencmode=disable&client_encoding=UTF8&max_protocol_version=latest"
                + "&fallback_application_name=f&sslnegotiation=direct&sslmode=require&connect_timeout=0");
        assertEquals(Map.of("application_name", "f"), config.parameters());
        assertEquals(2, config.protocolMinor());
        assertEquals(SslNegotiation.DIRECT, config.sslNegotiation());
    }

    @Test
    void readsServices(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("services"), """
                # ours
                [shop]
                host = db.example
                port=6543

                user=clerk
                application_name=till
                [other]
                host=other
                [wrong]
                service=shop
                """);
        Config config = Config.of("postgres://admin@/d?service=shop&servicefile=" + file);
        assertEquals(List.of(new Host("db.example", 6543)), config.hosts());
        assertEquals("admin", config.user());
        assertEquals(Map.of("application_name", "till"), config.parameters());
        assertThrows(IllegalArgumentException.class,
                () -> Config.of(Map.of("service", "wrong", "servicefile", file.toString())));
        assertThrows(IllegalArgumentException.class,
                () -> Config.of(Map.of("service", "none", "servicefile", file.toString())));
        Config byEnvironment = Environment.builder(Map.of("PGSERVICEFILE", file.toString(), "PGSERVICE", "shop",
                "PGUSER", "u", "PGDATABASE", "d", "PGPASSFILE", "/nowhere")).build();
        assertEquals("clerk", byEnvironment.user());
        assertEquals("d", byEnvironment.database());
        assertEquals(Path.of("/nowhere"), byEnvironment.passFile());
    }

    @Test
    void looksPasswordsUp(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("passwords"), """
                # host:port:database:user:password
                other:*:*:*:wrong
                db\\:x:5432:shop:u\\\\1:se\\:cret
                db:5432:*:clerk:first:with colon
                *:*:*:clerk:second
                localhost:*:*:*:local
                short:line
                """);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        assertEquals("first:with colon", PassFile.find(file, new Host("db", 5432), "any", "clerk"));
        assertEquals("second", PassFile.find(file, new Host("db", 5433), "any", "clerk"));
        assertEquals("se:cret", PassFile.find(file, new Host("db:x", 5432), "shop", "u\\1"));
        assertEquals("local", PassFile.find(file, new Host("/var/run/postgresql", 5432), "any", "u"));
        assertEquals(null, PassFile.find(file, new Host("db", 5432), "any", "u"));
        assertEquals(null, PassFile.find(folder.resolve("none"), new Host("db", 5432), "any", "u"));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        var open = assertThrows(IOException.class, () -> PassFile.find(file, new Host("db", 5432), "any", "clerk"));
        assertTrue(open.getMessage().contains("chmod 600"), open.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"mysql://a/b", "postgres://u@h:0/d", "postgres://u@h:x/d", "postgres://u@h/d?sslmode=maybe",
        "postgres://u@h/d?%zz=1", "postgres://u@h/d?novalue", "postgres://u@a,b,c:1,2/d?port=1,2",
        "postgres://u@h/d?gssencmode=require", "postgres://u@h/d?require_auth=scram-sha-256",
        "postgres://u@h/d?max_protocol_version=3.1", "postgres://u@h/d?max_protocol_version=3.0&min_protocol_version=3.2",
        "postgres://u@h/d?sslnegotiation=direct", "postgres://u@h/d?sslnegotiation=soon", "postgres://u@h/d?client_encoding=LATIN1",
        "postgres://u@a,b/d?hostaddr=127.0.0.1", "postgres://u@h/d?load_balance_hosts=yes", "postgres://?service=nowhere"})
    void refusesWhatItDoesNotUnderstand(String url) {
        assertThrows(IllegalArgumentException.class, () -> Config.of(url));
    }
}
