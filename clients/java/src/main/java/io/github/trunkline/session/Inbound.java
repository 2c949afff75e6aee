package io.github.trunkline.session;

import io.github.trunkline.ProtocolException;
import io.github.trunkline.net.Transport;
import io.github.trunkline.row.RowCollector;
import io.github.trunkline.wire.Bytes;
import io.github.trunkline.wire.DataRow;
import io.github.trunkline.wire.Frame;
import java.io.EOFException;
import java.io.IOException;
import java.util.Arrays;

/**
 * The bytes received from the server, and the present message among them.
 *
 * <pre>
 *   0        start     end = from            to          buffer.length
 *   |  done  | message |  | messages to come |  free     |
 * </pre>
 *
 * Rows are not copied: a full buffer with rows becomes their slab, and a new buffer takes its place.
 */
public final class Inbound {
    /** The size of a buffer that holds no kept rows. Most answers fit. */
    static final int IDLE_BYTES = 32 * 1024;
    /** The size of a buffer that will become a slab. */
    static final int SLAB_BYTES = 128 * 1024;
    /** A larger message gets memory only as its bytes arrive: its length may be a lie. */
    static final int TRUSTED_BYTES = 1024 * 1024;

    private final Transport transport;
    private final int messageBytesMax;
    private byte[] buffer = new byte[IDLE_BYTES];
    private int from;
    private int to;
    private RowCollector collector;
    /** True if the program has got rows in this buffer: the bytes read so far must not change. */
    private boolean lent;

    private byte type;
    private int start;
    private int end;

    Inbound(Transport transport, int messageBytesMax) {
        this.transport = transport;
        this.messageBytesMax = messageBytesMax;
    }

    /** The buffer of the present message. */
    public byte[] buffer() {
        return buffer;
    }

    /** The present message's type. */
    public byte type() {
        return type;
    }

    /** Where its body begins. */
    public int start() {
        return start;
    }

    /** Where it ends. */
    public int end() {
        return end;
    }

    /** True if the next message has arrived completely. */
    boolean hasNext() {
        int size = Frame.size(buffer, from, to - from, messageBytesMax);
        return size != -1 && size <= to - from;
    }

    /** True if the next message is a row, and has arrived completely. */
    boolean hasRow() {
        return has('D');
    }

    /** True if the next message is CopyData, and has arrived completely. */
    boolean hasCopyData() {
        return has('d');
    }

    private boolean has(char wanted) {
        try {
            return from < to && buffer[from] == wanted && hasNext();
        } catch (ProtocolException e) {
            // next() will throw it.
            return false;
        }
    }

    /** Goes to the next message, waiting for it. */
    byte next() throws IOException {
        while (true) {
            int size = Frame.size(buffer, from, to - from, messageBytesMax);
            if (size != -1 && size <= to - from) {
                type = buffer[from];
                start = from + Frame.HEADER_BYTES;
                from += size;
                end = from;
                return type;
            }
            makeRoom(size);
            int count = transport.read(buffer, to, buffer.length - to);
            if (count < 0) {
                throw new EOFException("the server closed the connection");
            }
            to += count;
        }
    }

    /**
     * Adds the rows that have arrived to {@code rows}, up to the first message that is no row or has another number of
     * values. {@link #next} handles that one. Most of a large result passes through this loop only.
     *
     * @return where the last of them ends; {@code noneEnd} if there is none
     */
    int takeRows(RowCollector rows, int noneEnd) {
        byte[] bytes = buffer;
        int columns = rows.columns().size();
        int at = from;
        int last = noneEnd;
        while (to - at >= Frame.HEADER_BYTES && bytes[at] == 'D') {
            int body = at + Frame.HEADER_BYTES;
            int length = Bytes.int32(bytes, at + 1) - 4;
            if (length < 0 || length > Math.min(to - body, messageBytesMax - Frame.HEADER_BYTES)
                    || !DataRow.hasCount(bytes, body, body + length, columns)) {
                break;
            }
            rows.add(body);
            at = body + length;
            last = at;
        }
        from = at;
        return last;
    }

    /** Reads the bytes that arrive within that time; false if none did. {@link #hasNext} then finds whole messages. */
    boolean readWithin(int milliseconds) throws IOException {
        makeRoom(Frame.size(buffer, from, to - from, messageBytesMax));
        int count = transport.readWithin(buffer, to, buffer.length - to, milliseconds);
        if (count < 0) {
            throw new EOFException("the server closed the connection");
        }
        to += count;
        return count > 0;
    }

    /** Begins to gather rows, which keep their buffers; null ends that. */
    void gather(RowCollector rows) {
        collector = rows;
    }

    /** The program gets the present message as a row: its bytes must not change from now on. */
    void lend() {
        lent = true;
    }

    /** All rows of the collector have arrived. If they fill the buffer, it becomes their slab; else they are copied out. */
    void settle(RowCollector rows, int rowsEnd) {
        collector = null;
        boolean kept = rows.hasOpenRows() && !rows.consume(buffer);
        if (kept && rowsEnd - rows.firstOpenOffset() < buffer.length - buffer.length / 8) {
            rows.copyOut(buffer, rowsEnd);
        } else if (kept || buffer.length > IDLE_BYTES) {
            if (kept) {
                rows.slabDone(buffer);
            }
            // What a connection holds while it is idle is small.
            replace(new byte[Math.max(IDLE_BYTES, to - from)]);
        }
    }

    /** @param size the next message's size; -1 if not even that is known */
    private void makeRoom(int size) {
        boolean holdsRows = collector != null && collector.hasOpenRows();
        if (from == to && !holdsRows && !lent) {
            from = 0;
            to = 0;
            if (buffer.length > SLAB_BYTES) {
                buffer = new byte[IDLE_BYTES];
            }
        }
        boolean fits = size == -1 ? to - from < buffer.length - from : from + (long) size <= buffer.length;
        if (fits && to < buffer.length) {
            return;
        }
        int wanted = Math.max(size, Frame.HEADER_BYTES);
        boolean flows = holdsRows || lent;
        if (holdsRows && collector.consume(buffer)) {
            holdsRows = false;
            if (buffer.length < SLAB_BYTES) {
                // Many more may come: larger pieces cost fewer calls of the system.
                replace(new byte[Math.max(SLAB_BYTES, to - from)]);
            }
        }
        int capacity = wanted <= TRUSTED_BYTES ? wanted : (int) Math.min(wanted, Math.max(TRUSTED_BYTES, 2L * (to - from)));
        if (holdsRows) {
            giveUpBuffer();
        } else if (!lent && capacity <= buffer.length) {
            System.arraycopy(buffer, from, buffer, 0, to - from);
            to -= from;
            from = 0;
            return;
        }
        replace(new byte[Math.max(capacity, flows ? SLAB_BYTES : IDLE_BYTES)]);
    }

    private void giveUpBuffer() {
        if (from >= buffer.length - buffer.length / 8) {
            collector.slabDone(buffer);
        } else {
            // The next row is so large that much of the slab would stay empty.
            collector.copyOut(buffer, from);
        }
    }

    private void replace(byte[] fresh) {
        System.arraycopy(buffer, from, fresh, 0, to - from);
        to -= from;
        from = 0;
        buffer = fresh;
        lent = false;
    }

    /** The present message's body. */
    byte[] copyBody() {
        return Arrays.copyOfRange(buffer, start, end);
    }
}
