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
    /** The TCP connection under TLS; else the same. */
    private final Socket tcp;
    private final InputStream in;
    private final OutputStream out;

    private SocketTransport(Socket socket, Socket tcp) throws IOException {
        this.socket = socket;
        this.tcp = tcp;
        this.in = socket.getInputStream();
        this.out = socket.getOutputStream();
    }

    static SocketTransport connect(InetSocketAddress address, int timeoutMilliseconds) throws IOException {
        var socket = new Socket();
        try {
            socket.setTcpNoDelay(true);
            socket.setKeepAlive(true);
            socket.connect(address, timeoutMilliseconds);
            return new SocketTransport(socket, socket);
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    /** The same connection with TLS on top of it; blocks until the handshake is over. */
    SocketTransport secure(Tls tls, String host, int port, int timeoutMilliseconds) throws IOException {
        socket.setSoTimeout(timeoutMilliseconds);
        var secured = new SocketTransport(tls.handshake(socket, host, port), socket);
        socket.setSoTimeout(0);
        return secured;
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

    /** Without TLS's own good-bye, which would wait for a thread that is blocked in a write. */
    @Override
    public void close() {
        try {
            tcp.close();
        } catch (IOException e) {
            // It is closed all the same.
        }
    }
}
