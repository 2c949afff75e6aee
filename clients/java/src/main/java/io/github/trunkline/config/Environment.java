package io.github.trunkline.config;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** libpq's environment variables and the shapes of their values. */
final class Environment {
    private static final Map<String, String> KEYWORDS = Map.ofEntries(
            Map.entry("PGHOST", "host"), Map.entry("PGHOSTADDR", "hostaddr"), Map.entry("PGPORT", "port"),
            Map.entry("PGDATABASE", "dbname"),
            Map.entry("PGUSER", "user"), Map.entry("PGPASSWORD", "password"), Map.entry("PGSSLMODE", "sslmode"),
            Map.entry("PGSSLROOTCERT", "sslrootcert"), Map.entry("PGSSLCERT", "sslcert"),
            Map.entry("PGSSLKEY", "sslkey"), Map.entry("PGCHANNELBINDING", "channel_binding"),
            Map.entry("PGCONNECT_TIMEOUT", "connect_timeout"), Map.entry("PGAPPNAME", "application_name"),
            Map.entry("PGOPTIONS", "options"), Map.entry("PGTARGETSESSIONATTRS", "target_session_attrs"),
            Map.entry("PGLOADBALANCEHOSTS", "load_balance_hosts"), Map.entry("PGTZ", "TimeZone"),
            Map.entry("PGMAXPROTOCOLVERSION", "max_protocol_version"),
            Map.entry("PGMINPROTOCOLVERSION", "min_protocol_version"), Map.entry("PGPASSFILE", "passfile"),
            Map.entry("PGSSLNEGOTIATION", "sslnegotiation"), Map.entry("PGGSSENCMODE", "gssencmode"),
            // Refused, not ignored: the user who has set one relies on it.
            Map.entry("PGREQUIREAUTH", "require_auth"), Map.entry("PGREQUIREPEER", "requirepeer"),
            Map.entry("PGSSLMINPROTOCOLVERSION", "ssl_min_protocol_version"), Map.entry("PGSSLCRL", "sslcrl"));

    private Environment() {}

    static Map<String, String> read(Map<String, String> environment) {
        var keywords = new LinkedHashMap<String, String>();
        KEYWORDS.forEach((variable, keyword) -> {
            String value = environment.get(variable);
            if (value != null && !value.isEmpty()) {
                keywords.put(keyword, value);
            }
        });
        return keywords;
    }

    /** Applies the variables. As in libpq, a service that they name overrides them. */
    static Config.Builder builder(Map<String, String> environment) {
        Config.Builder builder = Keywords.set(Config.builder(), read(environment));
        String service = environment.get("PGSERVICE");
        if (service != null && !service.isEmpty()) {
            ServiceFile.read(service, null, environment).forEach(builder::set);
        }
        return builder;
    }

    static Path passFile(Map<String, String> environment) {
        String given = environment.get("PGPASSFILE");
        return given == null || given.isEmpty() ? PassFile.usual() : Path.of(given);
    }

    static int number(String keyword, String value) {
        try {
            return Integer.parseInt(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(keyword + " is " + value + ", which is no number");
        }
    }

    static boolean bool(String keyword, String value) {
        if (!value.equals("true") && !value.equals("false")) {
            throw new IllegalArgumentException(keyword + " is " + value + "; it can be true or false");
        }
        return value.equals("true");
    }

    static List<Integer> ports(String value) {
        var ports = new ArrayList<Integer>();
        for (String one : value.split(",", -1)) {
            int port = one.isEmpty() ? Host.DEFAULT_PORT : number("port", one);
            if (port < 1 || port > 65_535) {
                throw new IllegalArgumentException("port is " + port + "; ports are 1 to 65535");
            }
            ports.add(port);
        }
        return ports;
    }

    static <E extends Enum<E>> E word(String keyword, String value, Class<E> words) {
        try {
            return Enum.valueOf(words, value.toUpperCase(Locale.ROOT).replace('-', '_'));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(keyword + " is " + value + "; it can be "
                    + List.of(words.getEnumConstants()).toString().toLowerCase(Locale.ROOT));
        }
    }
}
