package io.github.trunkline.copy;

import io.github.trunkline.PostgresException;
import io.github.trunkline.session.AtEnd;
import io.github.trunkline.session.CopyTurn;
import io.github.trunkline.type.Types;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;

/**
 * {@code COPY ... FROM STDIN} as a stream of data in the format that the statement names. {@link #finish} ends the COPY, and
 * throws the server's error if there is one. {@link #close} without {@link #finish} undoes the COPY, so that an exception in
 * a try block never leaves half of the data in the table. {@link #rows} sends rows of values instead of data.
 */
public final class CopyIn extends OutputStream {
    private final CopyTurn turn;
    private final Types types;
    private final AtEnd atEnd;
    private boolean closed;

    /** Made by {@link io.github.trunkline.Connection#copyIn}. */
    public CopyIn(CopyTurn turn, Types types, AtEnd atEnd) {
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

    /** Ends the data, and returns how many rows the server has taken. */
    public long finish() {
        if (closed) {
            throw new IllegalStateException("the COPY is over");
        }
        closed = true;
        RuntimeException error = null;
        try {
            return turn.finish();
        } catch (RuntimeException e) {
            error = e;
            throw e;
        } finally {
            atEnd.over(turn.rows(), error);
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
            atEnd.over(0, new PostgresException("the COPY was undone: " + reason));
        }
    }

    /**
     * Sends rows of values and ends the COPY: in binary if its statement says {@code WITH (FORMAT binary)}, as text if it has no
     * options. If a row cannot be sent, or {@code rows} throws, this undoes the COPY.
     *
     * @param columnTypes the columns' types: object ids, such as 20 for int8 and 25 for text
     * @return how many rows the server has taken
     * @see io.github.trunkline.Connection#copyRows
     */
    public long rows(int[] columnTypes, Iterable<? extends List<?>> rows) {
        try {
            new CopyWriter(turn, types, columnTypes).write(rows);
        } catch (Throwable e) {
            try {
                abort("the client could not make the data: " + e.getClass().getName());
            } catch (PostgresException lost) {
                e.addSuppressed(lost);
            }
            throw e;
        }
        return finish();
    }
}
