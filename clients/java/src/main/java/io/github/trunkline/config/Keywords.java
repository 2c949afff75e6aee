package io.github.trunkline.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** libpq's names of settings, of its chapter "Parameter Key Words": what each does to a configuration. */
final class Keywords {
    /** Settings that this client does not implement. To ignore them could make a connection less safe than it was meant to be. */
    private static final Set<String> MISSING = Set.of("require_auth", "requirepeer", "sslcompression",
            "sslcertmode", "sslcrl", "sslcrldir", "sslsni", "sslkeylogfile", "ssl_min_protocol_version",
            "ssl_max_protocol_version", "krbsrvname", "gsslib", "gssdelegation", "keepalives", "keepalives_idle",
            "keepalives_interval", "keepalives_count", "tcp_user_timeout", "scram_client_key", "scram_server_key",
            "oauth_issuer", "oauth_client_id", "oauth_client_secret", "oauth_scope");

    private Keywords() {}

    /** Sets all. A service's settings apply where nothing else is given, whatever the order. */
    static Config.Builder set(Config.Builder builder, Map<String, String> keywords) {
        var rest = new LinkedHashMap<>(keywords);
        for (String first : new String[] {"servicefile", "service"}) {
            String value = rest.remove(first);
            if (value != null) {
                set(builder, first, value);
            }
        }
        rest.forEach((keyword, value) -> set(builder, keyword, value));
        return builder;
    }

    // tidy: long because it is one table
    static void set(Config.Builder builder, String keyword, String value) {
        switch (keyword) {
            case "host" -> builder.host(value);
            case "hostaddr" -> builder.addresses = List.of(value.split(",", -1));
            case "port" -> builder.ports = Environment.ports(value);
            case "user" -> builder.user(value);
            case "password" -> builder.password(value);
            case "passfile" -> builder.passFile(Path.of(value));
            case "service" -> ServiceFile.read(value, builder.serviceFile, System.getenv())
                    .forEach((name, text) -> set(builder, name, text));
            case "servicefile" -> builder.serviceFile = Path.of(value);
            case "dbname", "database" -> builder.database(value);
            case "sslmode" -> builder.sslMode(SslMode.of(value));
            case "sslnegotiation" -> builder.sslNegotiation(SslNegotiation.of(value));
            case "sslrootcert" -> builder.sslRootCertificate(Path.of(value));
            case "sslcert" -> builder.sslCertificate(Path.of(value));
            case "sslkey" -> builder.sslKey(Path.of(value));
            case "sslpassword" -> builder.sslPassword(value);
            case "channel_binding" -> builder.channelBinding = Environment.word(
                    keyword, value, Config.ChannelBindingMode.class);
            case "connect_timeout" -> builder.connectTimeout(seconds(keyword, value));
            case "query_timeout" -> builder.queryTimeout(seconds(keyword, value));
            case "target_session_attrs" -> builder.targetServer(TargetServer.of(value));
            case "load_balance_hosts" -> builder.loadBalance = isRandom(keyword, value);
            case "max_protocol_version" -> builder.protocolMinor = minor(keyword, value);
            case "min_protocol_version" -> builder.protocolMinorMin = minor(keyword, value);
            case "text_first" -> builder.textFirst(Environment.bool(keyword, value));
            case "statements_max" -> builder.statementsMax(Environment.number(keyword, value));
            // With these values the settings ask for what this client does anyway.
            case "gssencmode" -> only(keyword, value, "disable", "prefer");
            case "client_encoding" -> only(keyword, value, "UTF8", "utf8", "UTF-8", "utf-8", "auto");
            case "fallback_application_name" -> builder.parameters.putIfAbsent("application_name", value);
            default -> {
                if (MISSING.contains(keyword)) {
                    throw new IllegalArgumentException(
                            keyword + " is a setting of libpq that this client does not have: leave it out");
                }
                builder.parameter(keyword, value);
            }
        }
    }

    /** As in libpq, zero and less stand for no limit. */
    private static Duration seconds(String keyword, String value) {
        return Duration.ofSeconds(Math.max(0, Environment.number(keyword, value)));
    }

    private static boolean isRandom(String keyword, String value) {
        only(keyword, value, "random", "disable");
        return value.equals("random");
    }

    private static int minor(String keyword, String value) {
        only(keyword, value, "3.0", "3.2", "latest");
        return value.equals("3.0") ? 0 : 2;
    }

    private static void only(String keyword, String value, String... allowed) {
        if (!List.of(allowed).contains(value)) {
            throw new IllegalArgumentException(keyword + " is " + value + "; it can be " + String.join(" or ", allowed));
        }
    }
}
