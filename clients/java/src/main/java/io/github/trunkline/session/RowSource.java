package io.github.trunkline.session;

import io.github.trunkline.PostgresException;
import io.github.trunkline.row.Columns;
import io.github.trunkline.row.Row;
import io.github.trunkline.wire.Backend;

/**
 * Rows as they arrive: a portal that is executed for a number of rows at a time, in one transaction, until it is done or
 * closed. Memory holds the present slab, and the slabs of rows that the program keeps.
 */
public final class RowSource {
    private final Session session;
    private final Prepared statement;
    private final int fetchRows;
    private String tag;
    private boolean over;
    /** True if {@link #receive} must return the present message once more. */
    private boolean held;

    /**
     * Executes a statement that is bound already. Waits for the first answer, since an error after which the statement can be
     * prepared again comes before any row.
     */
    RowSource(Session session, Prepared statement, int fetchRows) {
        this.session = session;
        this.statement = statement;
        this.fetchRows = fetchRows;
        fetch();
        byte type = session.receive();
        while (type == '2' || type == '3') {
            session.decode();
            type = session.receive();
        }
        held = true;
        if (type == 'E') {
            next();
        }
    }

    private byte receive() {
        byte type = held ? session.in().type() : session.receive();
        held = false;
        return type;
    }

    private void fetch() {
        session.frontend().execute("", fetchRows);
        session.frontend().flush();
        session.send();
    }

    /** Its columns; null if the statement gives no rows. */
    public Columns columns() {
        return statement.columns();
    }

    /** The command tag; null before the end and after an early stop. */
    public String tag() {
        return tag;
    }

    /** True if the next row has arrived, so that {@link #next} does not wait. */
    public boolean hasRow() {
        return !over && (held ? session.in().type() == 'D' : session.in().hasRow());
    }

    /** False once the connection is closed. */
    public boolean isOpen() {
        return session.isOpen();
    }

    /** The next row; null at the end, when the turn is over too. */
    public Row next() {
        Inbound in = session.in();
        while (!over) {
            switch (receive()) {
                case 'D' -> {
                    Answers.row(session, statement.columnsOrNone());
                    in.lend();
                    return new Row(statement.columns(), in.buffer(), in.start());
                }
                case 's' -> {
                    session.decode();
                    fetch();
                }
                case 'C' -> {
                    tag = ((Backend.CommandComplete) session.decode()).tag();
                    finish(new Answers.Outcome());
                }
                case 'I' -> {
                    session.decode();
                    tag = "";
                    finish(new Answers.Outcome());
                }
                case 'E' -> {
                    var outcome = new Answers.Outcome();
                    outcome.error = Answers.error(session);
                    finish(outcome);
                }
                case '2', '3' -> session.decode();
                case 'G', 'H' -> throw session.fail(new PostgresException("COPY cannot be streamed: use copyIn or copyOut"));
                default -> throw session.unexpected("in the answer to Execute");
            }
        }
        return null;
    }

    private void finish(Answers.Outcome outcome) {
        over = true;
        session.frontend().sync();
        session.send();
        Answers.ready(session, outcome);
    }

    /** Ends the turn: drops the rest of the rows of the present fetch, and asks for no more. */
    public void close() {
        if (over || !session.isOpen()) {
            over = true;
            return;
        }
        over = true;
        var outcome = new Answers.Outcome();
        while (outcome.error == null) {
            byte type = receive();
            if (type == 'E') {
                outcome.error = Answers.error(session);
            } else if (type == 's' || type == 'C' || type == 'I') {
                break;
            } else if (type != 'D' && type != '2' && type != '3') {
                throw session.unexpected("in the answer to Execute");
            }
        }
        session.frontend().close('P', "");
        session.frontend().sync();
        session.send();
        Answers.ready(session, outcome);
    }
}
