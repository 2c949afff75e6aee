package io.github.trunkline.copy;

import io.github.trunkline.PostgresException;
import io.github.trunkline.ValueException;
import io.github.trunkline.session.CopyTurn;
import io.github.trunkline.type.Codec;
import io.github.trunkline.type.Types;
import io.github.trunkline.wire.Out;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;

/**
 * {@code COPY ... FROM STDIN} as a stream of the data, in whichever format the statement names. {@link #finish} ends it and
 * throws what the server refused; a {@link #close} without it undoes the COPY, so that half of the data is never taken
 * for all of it when an exception leaves a try block. Or rows of values go to {@link #rows}, for a COPY WITH
 * (FORMAT binary).
 */
public final class CopyIn extends OutputStream {
    /** PostgreSQL's chapter COPY, section "Binary Format". */
    private static final byte[] SIGNATURE = {'P', 'G', 'C', 'O', 'P', 'Y', '\n', (byte) 0xff, '\r', '\n', 0};

    private final CopyTurn turn;
    private final Types types;
    private final Runnable atEnd;
    private boolean closed;

    /** Made by {@link io.github.trunkline.Connection#copyIn}. */
    public CopyIn(CopyTurn turn, Types types, Runnable atEnd) {
        this.turn = turn;
        this.types = types;
        this.atEnd = atEnd;
    }

    @Override
    public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        if (closed) {
            throw new IOException("the COPY is over");
        }
        turn.write(bytes, offset, length);
    }

    /** The data is complete: gives how many rows the server has taken. */
    public long finish() {
        if (closed) {
            throw new IllegalStateException("the COPY is over");
        }
        closed = true;
        try {
            return turn.finish();
        } finally {
            atEnd.run();
        }
    }

    /** Undoes the COPY unless it was finished. */
    @Override
    public void close() {
        abort("the client closed the COPY without finishing it");
    }

    /** Undoes the COPY. */
    public void abort(String reason) {
        if (closed) {
            return;
        }
        closed = true;
        try {
            turn.fail(reason);
        } finally {
            atEnd.run();
        }
    }

    /**
     * Sends rows in binary and ends the COPY, whose statement says {@code WITH (FORMAT binary)}. If a row cannot be sent,
     * or {@code rows} throws, the COPY is undone.
     *
     * @param columnTypes the columns' types: object ids, such as 20 for int8 and 25 for text
     * @return how many rows the server has taken
     */
    public long rows(int[] columnTypes, Iterable<? extends List<?>> rows) {
        try {
            send(columnTypes, rows);
        } catch (RuntimeException e) {
            abort("the client could not make the data: " + e.getClass().getName());
            throw e;
        }
        return finish();
    }

    private void send(int[] columnTypes, Iterable<? extends List<?>> rows) {
        var codecs = new Codec[columnTypes.length];
        for (int i = 0; i < codecs.length; i++) {
            codecs[i] = types.codec(columnTypes[i]);
            if (codecs[i] == null || codecs[i].encoder() == null) {
                throw new ValueException("values of type " + Integer.toUnsignedString(columnTypes[i])
                        + " cannot be written in binary");
            }
        }
        var out = new Out();
        out.bytes(SIGNATURE).int32(0).int32(0);
        long number = 0;
        for (List<?> row : rows) {
            number++;
            if (row.size() != codecs.length) {
                throw new ValueException("row " + number + " has " + row.size() + " values for " + codecs.length
                        + " columns");
            }
            out.int16(codecs.length);
            for (int i = 0; i < codecs.length; i++) {
                put(out, codecs[i], row.get(i), number, i);
            }
            if (out.size() >= 16 * 1024) {
                turn.write(out.array(), 0, out.size());
                out.clear();
            }
        }
        out.int16(-1);
        turn.write(out.array(), 0, out.size());
    }

    private static void put(Out out, Codec codec, Object value, long row, int column) {
        if (value == null) {
            out.int32(-1);
            return;
        }
        int mark = out.openLength();
        try {
            Types.encodeBinary(codec, value, out);
        } catch (RuntimeException e) {
            String reason = e instanceof PostgresException ? e.getMessage() : e.toString();
            throw new ValueException("row " + row + ", column " + column + ": " + reason, e);
        }
        out.patchLength(mark);
    }
}
