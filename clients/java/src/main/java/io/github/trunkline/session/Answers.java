package io.github.trunkline.session;

import io.github.trunkline.PostgresException;
import io.github.trunkline.ProtocolException;
import io.github.trunkline.ServerException;
import io.github.trunkline.row.Columns;
import io.github.trunkline.row.RowCollector;
import io.github.trunkline.row.Rows;
import io.github.trunkline.wire.Backend;
import io.github.trunkline.wire.ColumnDescription;
import io.github.trunkline.wire.DataRow;
import java.util.List;

/** Reads what a server answers to Bind and Execute. */
final class Answers {
    /** The columns of a statement that returns no rows. */
    static final Columns NONE = new Columns(List.<ColumnDescription>of(), new io.github.trunkline.type.Decoder[0]);

    private Answers() {}

    /**
     * The present ErrorResponse. Throws one that ends the session, since no ReadyForQuery follows it.
     */
    static ServerException error(Session session) {
        ServerException error = session.error();
        if (error.isFatal()) {
            throw session.fail(error);
        }
        return error;
    }

    /**
     * Reads one statement's answer.
     *
     * @param rows takes the rows; none may come if its columns are {@link #NONE}
     * @return its rows; null if the server refused, with the error in {@code outcome}
     */
    static Rows rows(Session session, RowCollector rows, Outcome outcome) {
        Inbound in = session.in();
        int rowsEnd = 0;
        in.gather(rows);
        while (true) {
            switch (session.receive()) {
                case 'D' -> {
                    row(session, rows.columns());
                    rows.add(in.start());
                    rowsEnd = in.takeRows(rows, in.end());
                }
                case 'C' -> {
                    String tag = ((Backend.CommandComplete) session.decode()).tag();
                    in.settle(rows, rowsEnd);
                    return rows.finish(tag);
                }
                case 'I' -> {
                    session.decode();
                    in.settle(rows, rowsEnd);
                    return rows.finish("");
                }
                case 'E' -> {
                    outcome.error = error(session);
                    in.gather(null);
                    return null;
                }
                case '2', '3' -> session.decode();
                case 'G', 'H', 'd', 'c' -> copy(session, outcome);
                default -> throw session.unexpected("in the answer to Execute");
            }
        }
    }

    /** Proves that the present DataRow has as many values as there are columns. */
    static void row(Session session, Columns columns) {
        if (columns == NONE) {
            throw session.unexpected("from a statement without rows");
        }
        Inbound in = session.in();
        if (!DataRow.hasCount(in.buffer(), in.start(), in.end(), columns.size())) {
            try {
                DataRow.check(in.buffer(), in.start(), in.end(), columns.size());
            } catch (ProtocolException e) {
                throw session.fail(e);
            }
        }
    }

    /** A COPY where a query was expected. Drops the data that it sends, and refuses the data that it asks for. */
    private static void copy(Session session, Outcome outcome) {
        session.decode();
        outcome.misuse = "COPY from or to the client is not run by query or execute: use copyIn or copyOut";
        if (session.in().type() == 'G') {
            // In COPY mode the server ignores the Sync that was sent already. After the error it waits for another.
            session.frontend().copyFail("this client expected no COPY");
            session.frontend().sync();
            session.send();
        }
    }

    /** Reads up to ReadyForQuery, and throws what went wrong before or on the way. */
    static void ready(Session session, Outcome outcome) {
        while (true) {
            switch (session.receive()) {
                case 'Z' -> {
                    session.ready();
                    if (outcome.misuse != null) {
                        throw new PostgresException(outcome.misuse);
                    }
                    if (outcome.error != null) {
                        throw outcome.error;
                    }
                    return;
                }
                // A deferred constraint fails after CommandComplete, when Sync commits.
                case 'E' -> {
                    ServerException error = error(session);
                    outcome.error = outcome.error == null ? error : outcome.error;
                }
                case '3' -> session.decode();
                default -> throw session.unexpected("before ReadyForQuery");
            }
        }
    }

    /** The errors of a turn so far. */
    static final class Outcome {
        ServerException error;
        String misuse;
    }
}
