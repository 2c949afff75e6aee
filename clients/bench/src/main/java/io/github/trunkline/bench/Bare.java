package io.github.trunkline.bench;

import io.github.trunkline.wire.Bytes;
import io.github.trunkline.wire.Frontend;
import io.github.trunkline.wire.Out;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** A socket with a statement prepared on it, and nothing else. */
final class Bare implements AutoCloseable {
    private final Socket socket;
    private final InputStream in;
    private final byte[] buffer = new byte[128 * 1024];

    Bare(int port, String sql) throws IOException {
        socket = new Socket("127.0.0.1", port);
        socket.setTcpNoDelay(true);
        in = socket.getInputStream();
        var out = new Out();
        var frontend = new Frontend(out);
        frontend.startup(3, 0, List.of(Map.entry("user", "trusted"), Map.entry("database", "app")));
        send(out);
        pass();
        frontend.parse("s", sql);
        frontend.sync();
        send(out);
        pass();
    }

    private void send(Out out) throws IOException {
        socket.getOutputStream().write(out.array(), 0, out.size());
        out.clear();
    }

    /** Up to ReadyForQuery, slowly. */
    private void pass() throws IOException {
        var data = new DataInputStream(in);
        int type;
        do {
            type = data.readUnsignedByte();
            data.skipNBytes(data.readInt() - 4);
        } while (type != 'Z');
    }

    private void ask() throws IOException {
        var out = new Out();
        var frontend = new Frontend(out);
        frontend.bind("", "s", new short[0], new byte[0][], new short[] {1});
        frontend.execute("", 0);
        frontend.sync();
        send(out);
    }

    /** Only the last six bytes are looked at: ReadyForQuery is always the same. */
    Object socket() throws IOException {
        ask();
        long count = 0;
        while (true) {
            int n = in.read(buffer, 0, buffer.length);
            if (n < 0) {
                throw new IOException("the server hung up");
            }
            count += n;
            if (n >= 6 && buffer[n - 6] == 'Z' && buffer[n - 2] == 5 && buffer[n - 1] == 'I') {
                return count;
            }
        }
    }

    /** Slabs, and where in them each row begins. */
    Object slab() throws IOException {
        ask();
        var slabs = new ArrayList<byte[]>();
        var offsets = new int[1024];
        int rows = 0;
        byte[] slab = new byte[128 * 1024];
        slabs.add(slab);
        int from = 0;
        int to = 0;
        while (true) {
            int n = in.read(slab, to, slab.length - to);
            if (n < 0) {
                throw new IOException("the server hung up");
            }
            to += n;
            while (to - from >= 5) {
                int size = Bytes.int32(slab, from + 1) + 1;
                if (size > to - from) {
                    break;
                }
                if (slab[from] == 'D') {
                    if (rows == offsets.length) {
                        offsets = Arrays.copyOf(offsets, rows * 2);
                    }
                    offsets[rows++] = from;
                } else if (slab[from] == 'Z') {
                    return List.of(slabs, offsets);
                }
                from += size;
            }
            if (to == slab.length) {
                byte[] next = new byte[128 * 1024];
                System.arraycopy(slab, from, next, 0, to - from);
                to -= from;
                from = 0;
                slab = next;
                slabs.add(slab);
            }
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
