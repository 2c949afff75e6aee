package io.github.trunkline.copy;

import io.github.trunkline.PostgresException;
import io.github.trunkline.ValueException;
import io.github.trunkline.session.CopyTurn;
import io.github.trunkline.type.Codec;
import io.github.trunkline.type.TextForm;
import io.github.trunkline.type.Types;
import io.github.trunkline.wire.Out;
import java.util.List;

/** Writes rows of values as a COPY's data: in binary, or as lines of text with tabs between the values. */
final class CopyWriter {
    /** PostgreSQL's chapter COPY, section "Binary Format". */
    static final byte[] SIGNATURE = {'P', 'G', 'C', 'O', 'P', 'Y', '\n', (byte) 0xff, '\r', '\n', 0};
    /** How much is gathered before it is sent. */
    private static final int PIECE_BYTES = 16 * 1024;

    private final CopyTurn turn;
    private final Types types;
    private final Codec[] codecs;
    private final Out out = new Out();
    private long number;

    CopyWriter(CopyTurn turn, Types types, int[] columnTypes) {
        this.turn = turn;
        this.types = types;
        this.codecs = new Codec[columnTypes.length];
        for (int i = 0; i < codecs.length; i++) {
            codecs[i] = types.codec(columnTypes[i]);
            if (turn.isBinary() && (codecs[i] == null || codecs[i].encoder() == null)) {
                throw new ValueException("values of type " + Integer.toUnsignedString(columnTypes[i])
                        + " cannot be written in binary: leave WITH (FORMAT binary) out of the statement");
            }
        }
        CopyText.check(turn);
    }

    void write(Iterable<? extends List<?>> rows) {
        if (turn.isBinary()) {
            out.bytes(SIGNATURE).int32(0).int32(0);
        }
        for (List<?> row : rows) {
            number++;
            if (row.size() != codecs.length) {
                throw new ValueException("row " + number + " has " + row.size() + " values for " + codecs.length
                        + " columns");
            }
            Object[] values = types.adapted(codecs, row.toArray());
            if (turn.isBinary()) {
                putBinary(values);
            } else {
                putText(values);
            }
            if (out.size() >= PIECE_BYTES) {
                hand();
            }
        }
        if (turn.isBinary()) {
            out.int16(-1);
        }
        hand();
    }

    private void hand() {
        turn.write(out.array(), 0, out.size());
        out.clear();
    }

    private void putBinary(Object[] values) {
        out.int16(values.length);
        for (int i = 0; i < values.length; i++) {
            if (values[i] == null) {
                out.int32(-1);
                continue;
            }
            int mark = out.openLength();
            try {
                Types.encodeBinary(codecs[i], values[i], out);
            } catch (RuntimeException e) {
                throw wrong(i, e);
            }
            out.patchLength(mark);
        }
    }

    private void putText(Object[] values) {
        for (int i = 0; i < values.length; i++) {
            if (i > 0) {
                out.int8('\t');
            }
            try {
                out.text(values[i] == null ? CopyText.NULL : CopyText.escape(TextForm.of(codecs[i], values[i])));
            } catch (RuntimeException e) {
                throw wrong(i, e);
            }
        }
        out.int8('\n');
    }

    private ValueException wrong(int column, RuntimeException cause) {
        String reason = cause instanceof PostgresException ? cause.getMessage() : cause.toString();
        return new ValueException("row " + number + ", column " + column + ": " + reason, cause);
    }
}
