package io.github.trunkline.config;

/**
 * Where a server listens.
 *
 * @param name a name or address, or, beginning with {@code /}, the folder of a unix socket
 * @param port its port, which is part of a unix socket's name too
 * @param address the address to connect to, so that the name is not looked up (libpq's hostaddr); else null
 */
public record Host(String name, int port, String address) {
    /** PostgreSQL's port. */
    public static final int DEFAULT_PORT = 5432;

    /** A host whose name is looked up. */
    public Host(String name, int port) {
        this(name, port, null);
    }

    /** True for the folder of a unix socket. */
    public boolean isUnixSocket() {
        return address == null && name.startsWith("/");
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
