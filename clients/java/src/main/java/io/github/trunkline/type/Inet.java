package io.github.trunkline.type;

import java.net.InetAddress;

/**
 * A value of inet or cidr.
 *
 * @param address the address
 * @param prefix how many bits of it name the network: 32 or 128 for a single host
 */
public record Inet(InetAddress address, int prefix) {
    /** A single host. */
    public static Inet of(InetAddress address) {
        return new Inet(address, address.getAddress().length * 8);
    }

    /** As PostgreSQL reads it: {@code 192.0.2.0/24}. */
    @Override
    public String toString() {
        return address.getHostAddress() + "/" + prefix;
    }
}
