package io.github.trunkline.net;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.security.cert.X509Certificate;

/** A unix socket. Java closes its channel if a thread that reads or writes is interrupted. */
final class UnixTransport implements Transport {
    private final SocketChannel channel;

    private UnixTransport(SocketChannel channel) {
        this.channel = channel;
    }

    static UnixTransport connect(String path) throws IOException {
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            channel.connect(UnixDomainSocketAddress.of(path));
            return new UnixTransport(channel);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        return channel.read(ByteBuffer.wrap(bytes, offset, length));
    }

    @Override
    public int readWithin(byte[] bytes, int offset, int length, int milliseconds) throws IOException {
        channel.configureBlocking(false);
        try (Selector selector = Selector.open()) {
            channel.register(selector, SelectionKey.OP_READ);
            selector.select(Math.max(milliseconds, 1));
            return channel.read(ByteBuffer.wrap(bytes, offset, length));
        } finally {
            if (channel.isOpen()) {
                channel.configureBlocking(true);
            }
        }
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        ByteBuffer buffer = ByteBuffer.wrap(bytes, offset, length);
        while (buffer.hasRemaining()) {
            channel.write(buffer);
        }
    }

    @Override
    public X509Certificate serverCertificate() {
        return null;
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            // The channel is closed even so.
        }
    }
}
