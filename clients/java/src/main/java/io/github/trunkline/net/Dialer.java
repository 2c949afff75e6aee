package io.github.trunkline.net;

import io.github.trunkline.config.Config;
import io.github.trunkline.config.Host;
import io.github.trunkline.config.SslMode;
import io.github.trunkline.config.SslNegotiation;
import io.github.trunkline.wire.Frontend;
import io.github.trunkline.wire.Out;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

/** Opens connections: TCP or a unix socket, and TLS if the configuration asks for it. Does not log in. */
public final class Dialer {
    private Dialer() {}

    /**
     * One way to reach a server.
     *
     * @param host the host as the configuration names it
     * @param address its address; null for a unix socket
     */
    public record Address(Host host, InetAddress address) {
        @Override
        public String toString() {
            return address == null || address.getHostAddress().equals(host.name()) ? host.toString()
                    : host + " (" + address.getHostAddress() + ")";
        }
    }

    /** All addresses of a host. */
    public static List<Address> resolve(Host host) throws IOException {
        if (host.isUnixSocket()) {
            return List.of(new Address(host, null));
        }
        var list = new ArrayList<Address>();
        for (InetAddress address : InetAddress.getAllByName(host.address() == null ? host.name() : host.address())) {
            list.add(new Address(host, address));
        }
        return list;
    }

    /** Whether TLS is tried, in which order: the attempts that {@code sslmode} stands for. */
    public static List<Boolean> attempts(SslMode mode, Host host) {
        if (host.isUnixSocket()) {
            return List.of(false);
        }
        return switch (mode) {
            case DISABLE -> List.of(false);
            case ALLOW -> List.of(false, true);
            case PREFER -> List.of(true, false);
            case REQUIRE, VERIFY_CA, VERIFY_FULL -> List.of(true);
        };
    }

    /**
     * Connects.
     *
     * @param withTls ask for TLS; if the server has none, sslmode {@code prefer} and {@code allow} go on without
     * @param timeoutMilliseconds for TCP and TLS; 0 is for ever
     */
    public static Transport dial(Address target, Config config, boolean withTls, int timeoutMilliseconds)
            throws IOException {
        if (target.host().isUnixSocket()) {
            return UnixTransport.connect(target.host().socketPath());
        }
        var socket = new Socket();
        var deadline = new ConnectDeadline(socket, timeoutMilliseconds);
        try {
            var address = new InetSocketAddress(target.address(), target.host().port());
            SocketTransport plain = SocketTransport.connect(socket, address);
            SocketTransport ready = !withTls ? plain : config.sslNegotiation() == SslNegotiation.DIRECT
                    ? plain.secure(new Tls(config), target.host().name(), target.host().port())
                    : askForTls(plain, target, config);
            deadline.met();
            return ready;
        } catch (IOException e) {
            SocketTransport.close(socket);
            throw deadline.explain(e);
        } catch (RuntimeException e) {
            SocketTransport.close(socket);
            throw e;
        }
    }

    private static SocketTransport askForTls(SocketTransport plain, Address target, Config config) throws IOException {
        var out = new Out();
        new Frontend(out).sslRequest();
        plain.write(out.array(), 0, out.size());
        // One byte and no more: what follows it belongs to TLS (CVE-2021-23222).
        var answer = new byte[1];
        if (plain.read(answer, 0, 1) < 0) {
            throw new EOFException("the server hung up when it was asked for TLS");
        }
        if (answer[0] == 'S') {
            return plain.secure(new Tls(config), target.host().name(), target.host().port());
        }
        SslMode mode = config.sslMode();
        if (answer[0] == 'N' && (mode == SslMode.PREFER || mode == SslMode.ALLOW)) {
            return plain;
        }
        throw new IOException(answer[0] == 'N' ? "the server has no TLS, and sslmode demands it"
                : "the server answered to SSLRequest with byte " + (answer[0] & 0xff) + ": is it PostgreSQL?");
    }
}
