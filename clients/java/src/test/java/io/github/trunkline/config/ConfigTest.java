package io.github.trunkline.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
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

    @ParameterizedTest
    @ValueSource(strings = {"mysql://a/b", "postgres://u@h:0/d", "postgres://u@h:x/d", "postgres://u@h/d?sslmode=maybe",
        "postgres://u@h/d?%zz=1", "postgres://u@h/d?novalue", "postgres://u@a,b,c:1,2/d?port=1,2",
        "postgres://u@h/d?gssencmode=require"})
    void refusesWhatItDoesNotUnderstand(String url) {
        assertThrows(IllegalArgumentException.class, () -> Config.of(url));
    }
}
