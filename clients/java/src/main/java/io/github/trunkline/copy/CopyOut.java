package io.github.trunkline.copy;

import io.github.trunkline.ProtocolException;
import io.github.trunkline.ValueException;
import io.github.trunkline.session.CopyTurn;
import io.github.trunkline.session.Inbound;
import io.github.trunkline.type.Codec;
import io.github.trunkline.type.Types;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * {@code COPY ... TO STDOUT} as a stream of the data, in whichever format the statement names. {@link #close} passes over
 * what was not read. Or the rows of a COPY WITH (FORMAT binary) are read by {@link #rows}.
 */
public final class CopyOut extends InputStream {
    private static final byte[] SIGNATURE = {'P', 'G', 'C', 'O', 'P', 'Y', '\n', (byte) 0xff, '\r', '\n', 0};

    private final CopyTurn turn;
    private final Types types;
    private final Runnable atEnd;
    private int at;
    private int end;
    private boolean closed;

    /** Made by {@link io.github.trunkline.Connection#copyOut}. */
    public CopyOut(CopyTurn turn, Types types, Runnable atEnd) {
        this.turn = turn;
        this.types = types;
        this.atEnd = atEnd;
    }

    /** False at the end of the data. */
    private boolean fill() {
        while (at == end) {
            if (closed || !next()) {
                return false;
            }
        }
        return true;
    }

    private boolean next() {
        boolean more = false;
        try {
            more = turn.read();
        } finally {
            if (!more) {
                finish();
            }
        }
        Inbound piece = turn.piece();
        at = more ? piece.start() : 0;
        end = more ? piece.end() : 0;
        return more;
    }

    private void finish() {
        if (!closed) {
            closed = true;
            atEnd.run();
        }
    }

    @Override
    public int read() {
        return fill() ? turn.piece().buffer()[at++] & 0xff : -1;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) {
        if (length == 0) {
            return 0;
        }
        if (!fill()) {
            return -1;
        }
        int count = Math.min(length, end - at);
        System.arraycopy(turn.piece().buffer(), at, bytes, offset, count);
        at += count;
        return count;
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        try {
            turn.drain();
        } finally {
            finish();
        }
    }

    /**
     * Reads the rows of a COPY whose statement says {@code WITH (FORMAT binary)}, and closes.
     *
     * @param columnTypes the columns' types: object ids
     * @param action takes each row's values
     */
    public void rows(int[] columnTypes, Consumer<Object[]> action) {
        try (this) {
            var in = new DataInputStream(this);
            byte[] header = in.readNBytes(SIGNATURE.length);
            if (!Arrays.equals(header, SIGNATURE)) {
                throw new ValueException("the COPY's data is not in binary: its statement needs WITH (FORMAT binary)");
            }
            in.readInt();
            in.skipNBytes(Integer.toUnsignedLong(in.readInt()));
            for (short count = in.readShort(); count != -1; count = in.readShort()) {
                if (count != columnTypes.length) {
                    throw new ValueException("a row of the COPY has " + count + " values for " + columnTypes.length
                            + " columns");
                }
                action.accept(row(in, columnTypes));
            }
        } catch (IOException e) {
            throw new ProtocolException("the COPY's data ends too early");
        }
    }

    private Object[] row(DataInputStream in, int[] columnTypes) throws IOException {
        var row = new Object[columnTypes.length];
        for (int i = 0; i < row.length; i++) {
            int length = in.readInt();
            if (length == -1) {
                continue;
            }
            if (length < 0) {
                throw new ValueException("a value of the COPY has length " + length);
            }
            byte[] value = in.readNBytes(length);
            if (value.length != length) {
                throw new IOException("cut off");
            }
            Codec codec = types.codec(columnTypes[i]);
            row[i] = codec == null || codec.binary() == null ? value : codec.binary().decode(value, 0, length);
        }
        return row;
    }
}
