package io.github.trunkline.net;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLSocket;

/** TCP, with or without TLS. */
final class SocketTransport implements Transport {
    private final Socket socket;
    /** The TCP connection: under TLS if there is TLS, else the socket itself. */
    private final Socket tcp;
    private final InputStream in;
    private final OutputStream out;

    private SocketTransport(Socket socket, Socket tcp) throws IOException {
        this.socket = socket;
        this.tcp = tcp;
        this.in = socket.getInputStream();
        this.out = socket.getOutputStream();
    }

    /** Blocks until the connection stands, or another thread closes {@code socket}. */
    static SocketTransport connect(Socket socket, InetSocketAddress address) throws IOException {
        socket.setTcpNoDelay(true);
        socket.setKeepAlive(true);
        socket.connect(address);
        return new SocketTransport(socket, socket);
    }

    /** The same connection with TLS on top of it; blocks until the handshake is over. */
    SocketTransport secure(Tls tls, String host, int port) throws IOException {
        return new SocketTransport(tls.handshake(socket, host, port), socket);
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        return in.read(bytes, offset, length);
    }

    @Override
    public int readWithin(byte[] bytes, int offset, int length, int milliseconds) throws IOException {
        socket.setSoTimeout(Math.max(milliseconds, 1));
        try {
            return in.read(bytes, offset, length);
        } catch (SocketTimeoutException e) {
            return 0;
        } finally {
            if (!socket.isClosed()) {
                socket.setSoTimeout(0);
            }
        }
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        out.write(bytes, offset, length);
        out.flush();
    }

    @Override
    public X509Certificate serverCertificate() {
        try {
            return socket instanceof SSLSocket tls ? (X509Certificate) tls.getSession().getPeerCertificates()[0] : null;
        } catch (IOException e) {
            return null;
        }
    }

    /** Sends no close_notify of TLS, which would wait for a thread that is blocked in a write. */
    @Override
    public void close() {
        close(tcp);
    }

    static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // The socket is closed even so.
        }
    }
}
