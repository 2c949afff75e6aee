package io.github.trunkline.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Where to connect and how. Made by a {@link #builder}, from a URL ({@link #of(String)}), from libpq's keywords
 * ({@link #of(Map)}) or from the PG* environment ({@link #fromEnvironment()}). {@link #toBuilder} makes a changed copy.
 */
public final class Config {
    private final Builder from;

    private Config(Builder from) {
        this.from = from;
    }

    /** An empty builder: PostgreSQL on this machine, as the account that runs this program. */
    public static Builder builder() {
        return new Builder();
    }

    /** Reads a URL such as {@code postgres://user:password@host:5432/database?sslmode=require}, as libpq does. */
    public static Config of(String url) {
        return of(ConnectionUrl.read(url));
    }

    /** Reads libpq's keywords: {@code host}, {@code port}, {@code user}, {@code sslmode} and so on. */
    public static Config of(Map<String, String> keywords) {
        return Keywords.set(builder(), keywords).build();
    }

    /** Reads PGHOST, PGPORT, PGUSER, PGSERVICE and their like from this process's environment. */
    public static Config fromEnvironment() {
        return Environment.builder(System.getenv()).build();
    }

    /** A builder that begins with this configuration. */
    public Builder toBuilder() {
        return new Builder(from);
    }

    /** The servers to try, in this order. */
    public List<Host> hosts() {
        return from.hosts;
    }

    /** The user who logs in. */
    public String user() {
        return from.user;
    }

    /** The password, or null. */
    public String password() {
        return from.password;
    }

    /** Where a password is looked up if none is given. */
    public Path passFile() {
        return from.passFile;
    }

    /** The database. */
    public String database() {
        return from.database == null ? from.user : from.database;
    }

    /** Whether to use TLS, and what to check. */
    public SslMode sslMode() {
        return from.sslMode;
    }

    /** How TLS begins. */
    public SslNegotiation sslNegotiation() {
        return from.sslNegotiation;
    }

    /** The certificates (PEM) that vouch for the server's, or null. */
    public Path sslRootCertificate() {
        return from.sslRootCertificate;
    }

    /** The client's certificate (PEM), or null. */
    public Path sslCertificate() {
        return from.sslCertificate;
    }

    /** The client's key, or null. */
    public Path sslKey() {
        return from.sslKey;
    }

    /** The password of the client's key, or null. */
    public String sslPassword() {
        return from.sslPassword;
    }

    /** True if login must be bound to the TLS connection. */
    public boolean channelBindingRequired() {
        return from.channelBinding == ChannelBindingMode.REQUIRE;
    }

    /** False if login may not be bound to the TLS connection. */
    public boolean channelBindingAllowed() {
        return from.channelBinding != ChannelBindingMode.DISABLE;
    }

    /** Parameters of the session, such as {@code search_path}, set at its start. */
    public Map<String, String> parameters() {
        return from.parameters;
    }

    /** How long to connect to one server may take, login included; zero is no limit. */
    public Duration connectTimeout() {
        return from.connectTimeout;
    }

    /** The time limit of a query that has none of its own; zero is no limit. */
    public Duration queryTimeout() {
        return from.queryTimeout;
    }

    /** Which kind of server to accept. */
    public TargetServer targetServer() {
        return from.targetServer;
    }

    /** True if the servers are tried in random order. */
    public boolean loadBalance() {
        return from.loadBalance;
    }

    /** The newest minor version of protocol 3 to ask for: 0 or 2. */
    public int protocolMinor() {
        return from.protocolMinor;
    }

    /** The oldest minor version of protocol 3 to accept: 0 or 2. */
    public int protocolMinorMin() {
        return from.protocolMinorMin;
    }

    /** Whether a new statement runs in one round trip. */
    public boolean textFirst() {
        return from.textFirst;
    }

    /** How many prepared statements a connection keeps. */
    public int statementsMax() {
        return from.statementsMax;
    }

    /** How many bytes one message of the server may have. */
    public int messageBytesMax() {
        return from.messageBytesMax;
    }

    /** How many notifications the connection keeps; beyond that it drops the oldest. */
    public int notificationsMax() {
        return from.notificationsMax;
    }

    /** Without the password. */
    @Override
    public String toString() {
        return "Config[" + user() + " at " + hosts() + "/" + database() + ", sslmode " + sslMode() + "]";
    }

    enum ChannelBindingMode { DISABLE, PREFER, REQUIRE }

    /** Makes a {@link Config}. Each method returns the builder itself. */
    public static final class Builder {
        private List<Host> hosts = List.of();
        private List<String> names;
        List<String> addresses;
        List<Integer> ports = List.of(Host.DEFAULT_PORT);
        private String user = System.getProperty("user.name");
        private String password;
        private String database;
        private SslMode sslMode = SslMode.PREFER;
        private SslNegotiation sslNegotiation = SslNegotiation.POSTGRES;
        private Path sslRootCertificate;
        private Path sslCertificate;
        private Path sslKey;
        private String sslPassword;
        ChannelBindingMode channelBinding = ChannelBindingMode.PREFER;
        Map<String, String> parameters = new LinkedHashMap<>();
        private Duration connectTimeout = Duration.ofSeconds(10);
        private Duration queryTimeout = Duration.ZERO;
        private TargetServer targetServer = TargetServer.ANY;
        boolean loadBalance;
        int protocolMinor = 2;
        int protocolMinorMin;
        private Path passFile = Environment.passFile(System.getenv());
        /** The service file, if it is not in libpq's own places. */
        Path serviceFile;
        private int statementsMax = 256;
        private boolean textFirst;
        private int messageBytesMax = 1 << 30;
        private int notificationsMax = 10_000;

        private Builder() {}

        private Builder(Builder other) {
            hosts = other.hosts;
            names = other.names;
            addresses = other.addresses;
            ports = other.ports;
            user = other.user;
            password = other.password;
            database = other.database;
            sslMode = other.sslMode;
            sslNegotiation = other.sslNegotiation;
            sslRootCertificate = other.sslRootCertificate;
            sslCertificate = other.sslCertificate;
            sslKey = other.sslKey;
            sslPassword = other.sslPassword;
            channelBinding = other.channelBinding;
            parameters = new LinkedHashMap<>(other.parameters);
            connectTimeout = other.connectTimeout;
            queryTimeout = other.queryTimeout;
            targetServer = other.targetServer;
            loadBalance = other.loadBalance;
            protocolMinor = other.protocolMinor;
            protocolMinorMin = other.protocolMinorMin;
            passFile = other.passFile;
            serviceFile = other.serviceFile;
            statementsMax = other.statementsMax;
            textFirst = other.textFirst;
            messageBytesMax = other.messageBytesMax;
            notificationsMax = other.notificationsMax;
        }

        /** A host's name or address, or the folder of a unix socket; several are tried in order, joined by commas. */
        public Builder host(String host) {
            names = List.of(host.split(",", -1));
            return this;
        }

        /** The port of all hosts. */
        public Builder port(int port) {
            ports = List.of(port);
            return this;
        }

        /** The user who logs in. */
        public Builder user(String name) {
            user = name;
            return this;
        }

        /** The password. */
        public Builder password(String secret) {
            password = secret;
            return this;
        }

        /** The database; by default the one with the user's name. */
        public Builder database(String name) {
            database = name;
            return this;
        }

        /** Whether to use TLS, and what to check. */
        public Builder sslMode(SslMode mode) {
            sslMode = mode;
            return this;
        }

        /** How TLS begins. */
        public Builder sslNegotiation(SslNegotiation how) {
            sslNegotiation = how;
            return this;
        }

        /** The certificates (PEM) that vouch for the server's. */
        public Builder sslRootCertificate(Path file) {
            sslRootCertificate = file;
            return this;
        }

        /** The client's certificate (PEM). */
        public Builder sslCertificate(Path file) {
            sslCertificate = file;
            return this;
        }

        /** The client's key: PKCS#8 in PEM or DER, or PEM as OpenSSL writes it for RSA and EC. */
        public Builder sslKey(Path file) {
            sslKey = file;
            return this;
        }

        /** The password of the client's key, if that is encrypted. */
        public Builder sslPassword(String secret) {
            sslPassword = secret;
            return this;
        }

        /** Where passwords are looked up if none is given (libpq's passfile); the default is {@code ~/.pgpass}. */
        public Builder passFile(Path file) {
            passFile = file;
            return this;
        }

        /** A parameter of the session, such as {@code search_path}. */
        public Builder parameter(String name, String value) {
            parameters.put(name, value);
            return this;
        }

        /** How long to connect to one server may take, login included; zero is no limit. */
        public Builder connectTimeout(Duration limit) {
            connectTimeout = limit;
            return this;
        }

        /** The time limit of a query that has none of its own; zero is no limit. */
        public Builder queryTimeout(Duration limit) {
            queryTimeout = limit;
            return this;
        }

        /** Which kind of server to accept. */
        public Builder targetServer(TargetServer target) {
            targetServer = target;
            return this;
        }

        /** The newest minor version of protocol 3 to ask for: 0 or 2. */
        public Builder protocolMinor(int minor) {
            if (minor != 0 && minor != 2) {
                throw new IllegalArgumentException("there is protocol 3.0 and 3.2, but no 3." + minor);
            }
            protocolMinor = minor;
            return this;
        }

        /**
         * Whether a statement that is not prepared yet runs in one round trip instead of two, if it has no parameters or only
         * Strings. Its values then come in text format. Off by default, because an anonymous {@code record} names its
         * fields' types in binary only: in text the fields are Strings. All other values are the same.
         */
        public Builder textFirst(boolean wanted) {
            textFirst = wanted;
            return this;
        }

        /** How many prepared statements a connection keeps: 0 prepares each anew. */
        public Builder statementsMax(int count) {
            statementsMax = atLeast("statementsMax", 0, count);
            return this;
        }

        /** How many bytes one message of the server may have. */
        public Builder messageBytesMax(int bytes) {
            messageBytesMax = atLeast("messageBytesMax", 1024, bytes);
            return this;
        }

        /** How many notifications the connection keeps; beyond that it drops the oldest. */
        public Builder notificationsMax(int count) {
            notificationsMax = atLeast("notificationsMax", 1, count);
            return this;
        }

        private static int atLeast(String name, int least, int value) {
            if (value < least) {
                throw new IllegalArgumentException(name + " is " + value + "; the least is " + least);
            }
            return value;
        }

        /**
         * Sets the setting that libpq calls {@code keyword}. A name that libpq does not know is a parameter of the session.
         * {@code service} sets everything that the service file says at once; later settings override it.
         *
         * @throws IllegalArgumentException for an invalid value, and for a setting of libpq that this client does not implement
         */
        public Builder set(String keyword, String value) {
            Keywords.set(this, keyword, value);
            return this;
        }

        /** The configuration. */
        public Config build() {
            if (user == null || user.isEmpty()) {
                throw new IllegalArgumentException("a connection needs a user");
            }
            if (sslNegotiation == SslNegotiation.DIRECT && sslMode.compareTo(SslMode.REQUIRE) < 0) {
                throw new IllegalArgumentException("sslnegotiation=direct needs an sslmode that demands TLS: require or more");
            }
            if (protocolMinorMin > protocolMinor) {
                throw new IllegalArgumentException("min_protocol_version is more than max_protocol_version");
            }
            var made = new Builder(this);
            made.hosts = listed();
            made.parameters = java.util.Collections.unmodifiableMap(new LinkedHashMap<>(parameters));
            return new Config(made);
        }

        private List<Host> listed() {
            List<String> of = names != null ? names : addresses != null ? addresses : List.of("localhost");
            int count = of.size();
            if (ports.size() != 1 && ports.size() != count || addresses != null && addresses.size() != count) {
                throw new IllegalArgumentException(count + " hosts, " + ports.size() + " ports and "
                        + (addresses == null ? 0 : addresses.size()) + " addresses: give one port, or one for each host, "
                        + "and an address for each host, or none");
            }
            var list = new ArrayList<Host>();
            for (int i = 0; i < count; i++) {
                String address = addresses == null || addresses.get(i).isEmpty() ? null : addresses.get(i);
                String name = !of.get(i).isEmpty() ? of.get(i) : address != null ? address : "localhost";
                list.add(new Host(name, ports.get(ports.size() == 1 ? 0 : i), address));
            }
            return List.copyOf(list);
        }
    }
}
