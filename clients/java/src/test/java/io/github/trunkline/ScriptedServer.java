package io.github.trunkline;

import io.github.trunkline.config.Config;
import io.github.trunkline.wire.Bytes;
import io.github.trunkline.wire.Out;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * A server that says what a test wants it to say, right or wrong. It lets everybody in, and then answers each Sync, Flush and
 * Query of the client with the next of its answers; when it has none left it hangs up. Further connections bring
 * cancel requests, which a test answers by closing them.
 */
final class ScriptedServer implements AutoCloseable {
    private final ServerSocket listener;
    private final List<byte[]> answers;
    private final BlockingQueue<Socket> cancels = new LinkedBlockingQueue<>();
    private volatile int answered;

    ScriptedServer(byte[]... answers) throws IOException {
        this.listener = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        this.answers = List.of(answers);
        var thread = new Thread(this::serve, "scripted server");
        thread.setDaemon(true);
        thread.start();
    }

    Config config() {
        return Config.builder().host("127.0.0.1").port(listener.getLocalPort()).user("u").password("p")
                .set("sslmode", "disable").build();
    }

    private void serve() {
        try (Socket socket = listener.accept()) {
            var in = new DataInputStream(socket.getInputStream());
            OutputStream out = socket.getOutputStream();
            in.skipNBytes(in.readInt() - 4);
            out.write(concat(message('R', new Out().int32(0)), message('S', new Out().cString("DateStyle").cString("ISO, MDY")),
                    message('S', new Out().cString("IntervalStyle").cString("postgres")), message('K', new Out().int32(1).int32(2)), ready('I')));
            new Thread(this::acceptCancels, "scripted server's cancels").start();
            while (answered < answers.size()) {
                int type = in.readUnsignedByte();
                in.skipNBytes(in.readInt() - 4);
                if (type == 'S' || type == 'Q' || type == 'H') {
                    byte[] answer = answers.get(answered);
                    answered = answered + 1;
                    out.write(answer);
                }
            }
        } catch (IOException e) {
            // The client has hung up: its test goes on.
        }
    }

    private void acceptCancels() {
        try {
            while (true) {
                Socket socket = listener.accept();
                socket.getInputStream().skipNBytes(16);
                cancels.add(socket);
            }
        } catch (IOException e) {
            // The test is over.
        }
    }

    /** The next cancel request; the client waits until it is closed. */
    Socket cancel() throws InterruptedException {
        return cancels.take();
    }

    /** How many answers were given. */
    int answered() {
        return answered;
    }

    static byte[] message(char type, Out body) {
        var bytes = new byte[5 + body.size()];
        bytes[0] = (byte) type;
        Bytes.putInt32(bytes, 1, 4 + body.size());
        System.arraycopy(body.array(), 0, bytes, 5, body.size());
        return bytes;
    }

    static byte[] concat(byte[]... parts) {
        var out = new Out();
        for (byte[] part : parts) {
            out.bytes(part);
        }
        return java.util.Arrays.copyOf(out.array(), out.size());
    }

    static byte[] ready(char status) {
        return message('Z', new Out().int8(status));
    }

    static byte[] error(String severity, String sqlState) {
        return message('E', new Out().int8('S').cString(severity).int8('C').cString(sqlState).int8('M').cString("scripted")
                .int8(0));
    }

    static byte[] complete(String tag) {
        return message('C', new Out().cString(tag));
    }

    /** What a server answers to Parse and Describe of a statement with columns of type int4, int8 (20) and so on. */
    static byte[] described(int... oids) {
        var columns = new Out().int16(oids.length);
        for (int i = 0; i < oids.length; i++) {
            columns.cString("c" + i).int32(0).int16(0).int32(oids[i]).int16(-1).int32(-1).int16(0);
        }
        return concat(message('1', new Out()), message('t', new Out().int16(0)), message('T', columns), ready('I'));
    }

    /** A DataRow with these values; null is NULL. */
    static byte[] row(byte[]... values) {
        var body = new Out().int16(values.length);
        for (byte[] value : values) {
            if (value == null) {
                body.int32(-1);
            } else {
                body.int32(value.length).bytes(value);
            }
        }
        return message('D', body);
    }

    static byte[] text(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }
}
