package io.github.trunkline.copy;

import io.github.trunkline.ProtocolException;
import io.github.trunkline.ValueException;
import io.github.trunkline.session.AtEnd;
import io.github.trunkline.session.CopyTurn;
import io.github.trunkline.session.Inbound;
import io.github.trunkline.type.Codec;
import io.github.trunkline.type.Types;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * {@code COPY ... TO STDOUT} as a stream of data in the format that the statement names. {@link #close} drops the data that
 * was not read. {@link #rows} reads rows of values instead of data.
 */
public final class CopyOut extends InputStream {
    private final CopyTurn turn;
    private final Types types;
    private final AtEnd atEnd;
    private int at;
    private int end;
    private boolean closed;

    /** Made by {@link io.github.trunkline.Connection#copyOut}. */
    public CopyOut(CopyTurn turn, Types types, AtEnd atEnd) {
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
        boolean more;
        try {
            more = turn.read();
        } catch (RuntimeException e) {
            finish(e);
            throw e;
        }
        if (!more) {
            finish(null);
        }
        Inbound piece = turn.piece();
        at = more ? piece.start() : 0;
        end = more ? piece.end() : 0;
        return more;
    }

    private void finish(RuntimeException error) {
        at = end;
        if (!closed) {
            closed = true;
            atEnd.over(turn.rows(), error);
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
        RuntimeException error = null;
        try {
            turn.drain();
        } catch (RuntimeException e) {
            error = e;
            throw e;
        } finally {
            finish(error);
        }
    }

    /**
     * Reads all rows of a COPY whose statement says {@code WITH (FORMAT binary)} or has no options, and closes.
     *
     * @param columnTypes the columns' types: object ids
     * @param action takes each row's values
     */
    public void rows(int[] columnTypes, Consumer<Object[]> action) {
        try (this) {
            CopyText.check(turn);
            if (turn.isBinary()) {
                binaryRows(columnTypes, action);
            } else {
                textRows(columnTypes, action);
            }
        } catch (IOException e) {
            throw new ProtocolException("the COPY's data ends too early");
        }
    }

    private void binaryRows(int[] columnTypes, Consumer<Object[]> action) throws IOException {
        var in = new DataInputStream(this);
        if (!Arrays.equals(in.readNBytes(CopyWriter.SIGNATURE.length), CopyWriter.SIGNATURE)) {
            throw new ProtocolException("the COPY's data does not begin as COPY's binary format does");
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
    }

    private void textRows(int[] columnTypes, Consumer<Object[]> action) throws IOException {
        for (byte[][] line = CopyText.line(this, columnTypes.length); line != null;
                line = CopyText.line(this, columnTypes.length)) {
            var row = new Object[line.length];
            for (int i = 0; i < row.length; i++) {
                Codec codec = types.codec(columnTypes[i]);
                if (line[i] != null) {
                    row[i] = codec == null ? new String(line[i], StandardCharsets.UTF_8)
                            : codec.text().decode(line[i], 0, line[i].length);
                }
            }
            action.accept(row);
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
