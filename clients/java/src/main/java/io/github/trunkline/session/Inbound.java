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
 * What has come from the server, and the message that is looked at.
 *
 * <pre>
 *   0        start     end = from            to          buffer.length
 *   |  done  | message |  | messages to come |  free     |
 * </pre>
 *
 * Rows are not copied: once a buffer that holds rows is full it becomes their slab, and a new one takes its place.
 */
public final class Inbound {
    /** A buffer that nothing is kept in. Most answers fit. */
    static final int IDLE_BYTES = 32 * 1024;
    /** A buffer that will become a slab. */
    static final int SLAB_BYTES = 128 * 1024;
    /** A larger message gets room as its bytes arrive: its length alone is a claim, and sets nothing aside. */
    static final int TRUSTED_BYTES = 1024 * 1024;

    private final Transport transport;
    private final int messageBytesMax;
    private byte[] buffer = new byte[IDLE_BYTES];
    private int from;
    private int to;
    private RowCollector collector;
    /** True if rows in the buffer have been handed out: what was read stays as it is. */
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

    /** True if the next message is here already, as far as its header says. */
    boolean hasNext() {
        int size = Frame.size(buffer, from, to - from, messageBytesMax);
        return size != -1 && size <= to - from;
    }

    /** True if the next message is a row, and here already. */
    boolean hasRow() {
        return has('D');
    }

    /** True if the next message is a piece of a COPY, and here already. */
    boolean hasCopyData() {
        return has('d');
    }

    private boolean has(char wanted) {
        try {
            return from < to && buffer[from] == wanted && hasNext();
        } catch (ProtocolException e) {
            // Whoever goes to that message is told.
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
     * Adds the rows that are here already to {@code rows}, up to the first message that is none or has another count: it
     * is left for {@link #next}. Most of a large result passes here, and nowhere else.
     *
     * @return where the last of them ends; {@code otherwise} if there is none
     */
    int takeRows(RowCollector rows, int otherwise) {
        byte[] bytes = buffer;
        int columns = rows.columns().size();
        int at = from;
        int last = otherwise;
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

    /** Reads what comes within that time: false if nothing did. Whole messages are then found by {@link #hasNext}. */
    boolean readWithin(int milliseconds) throws IOException {
        makeRoom(Frame.size(buffer, from, to - from, messageBytesMax));
        int count = transport.readWithin(buffer, to, buffer.length - to, milliseconds);
        if (count < 0) {
            throw new EOFException("the server closed the connection");
        }
        to += count;
        return count > 0;
    }

    /** Rows are gathered from here on, and keep their buffers; null ends that. */
    void gather(RowCollector rows) {
        collector = rows;
    }

    /** The present message is handed out as a row: its bytes stay. */
    void lend() {
        lent = true;
    }

    /** All rows of the collector are there: few are copied out, many keep the buffer. */
    void settle(RowCollector rows, int rowsEnd) {
        collector = null;
        if (!rows.hasOpenRows()) {
            return;
        }
        if (rowsEnd - rows.firstOpenOffset() >= buffer.length - buffer.length / 8) {
            rows.slabDone(buffer);
            replace(new byte[Math.max(IDLE_BYTES, to - from)]);
        } else {
            rows.copyOut(buffer, rowsEnd);
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
            // The next row is so large that the slab would stay half empty.
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
