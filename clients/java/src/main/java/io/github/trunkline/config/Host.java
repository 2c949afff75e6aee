package io.github.trunkline.config;

/**
 * Where a server listens.
 *
 * @param name a name or address, or, beginning with {@code /}, the folder of a unix socket
 * @param port its port, which is part of a unix socket's name too
 */
public record Host(String name, int port) {
    /** PostgreSQL's port. */
    public static final int DEFAULT_PORT = 5432;

    /** True for the folder of a unix socket. */
    public boolean isUnixSocket() {
        return name.startsWith("/");
    }

    /** The unix socket's path. */
    public String socketPath() {
        return name + "/.s.PGSQL." + port;
    }

    @Override
    public String toString() {
        return isUnixSocket() ? socketPath() : name.contains(":") ? "[" + name + "]:" + port : name + ":" + port;
    }
}
