package io.github.trunkline.session;

import io.github.trunkline.PostgresException;
import io.github.trunkline.ServerException;
import io.github.trunkline.row.CommandTag;
import io.github.trunkline.wire.Backend;

/** A COPY between server and client, from its statement to ReadyForQuery. By the simple protocol: it has no parameters. */
public final class CopyTurn {
    /** So much is gathered before it is sent. */
    private static final int SEND_BYTES = 64 * 1024;

    private final Session session;
    private String tag;
    private boolean over;

    private CopyTurn(Session session) {
        this.session = session;
    }

    /** Begins a COPY FROM STDIN. */
    public static CopyTurn in(Session session, String sql) {
        return begin(session, sql, 'G');
    }

    /** Begins a COPY TO STDOUT. */
    public static CopyTurn out(Session session, String sql) {
        return begin(session, sql, 'H');
    }

    private static CopyTurn begin(Session session, String sql, char wanted) {
        var turn = new CopyTurn(session);
        session.alarm().awaitDeliveries();
        session.frontend().query(sql);
        session.send();
        byte type = session.receive();
        if (type == wanted) {
            session.decode();
            return turn;
        }
        turn.abandon(type);
        throw new PostgresException("the statement is no COPY "
                + (wanted == 'G' ? "FROM STDIN" : "TO STDOUT") + ": " + sql);
    }

    /** Ends a turn that did not begin as a COPY of the wanted kind: throws the server's error if there is one. */
    private void abandon(byte first) {
        ServerException error = null;
        for (byte type = first;; type = session.receive()) {
            switch (type) {
                case 'E' -> error = Answers.error(session);
                case 'G' -> {
                    session.frontend().copyFail("this client expected no COPY FROM STDIN");
                    session.send();
                }
                case 'Z' -> {
                    session.ready();
                    over = true;
                    if (error != null && !error.sqlState().equals("57014")) {
                        throw error;
                    }
                    return;
                }
                case 'T', 'D', 'C', 'I', 'H', 'd', 'c' -> session.in();
                default -> throw session.unexpected("in the answer to COPY");
            }
        }
    }

    /** Sends a piece of the data. An error of the server shows at the {@link #finish}. */
    public void write(byte[] bytes, int offset, int length) {
        session.frontend().copyData(bytes, offset, length);
        if (session.frontend().out.size() >= SEND_BYTES) {
            session.send();
        }
    }

    /** The data is complete: gives how many rows the server has taken. */
    public long finish() {
        session.frontend().copyDone();
        session.send();
        return end(null);
    }

    /** The data is not to be taken: the server undoes the COPY. */
    public void fail(String reason) {
        if (over || !session.isOpen()) {
            return;
        }
        session.frontend().copyFail(reason.replace('\0', '?'));
        session.send();
        end("57014");
    }

    /** The next piece of the data lies in the present message; false at its end. */
    public boolean read() {
        if (over) {
            return false;
        }
        switch (session.receive()) {
            case 'd':
                return true;
            case 'c':
                session.decode();
                end(null);
                return false;
            case 'E':
                ServerException error = Answers.error(session);
                end(null);
                throw error;
            default:
                throw session.unexpected("in the data of a COPY");
        }
    }

    /** The present piece. */
    public Inbound piece() {
        return session.in();
    }

    /** Passes over what is left of the data. */
    public void drain() {
        while (session.isOpen() && read()) {
            // Nothing is done with it.
        }
    }

    /** True when the turn is over. */
    public boolean isOver() {
        return over;
    }

    private long end(String expectedError) {
        ServerException error = null;
        while (true) {
            switch (session.receive()) {
                case 'C' -> tag = ((Backend.CommandComplete) session.decode()).tag();
                case 'E' -> error = Answers.error(session);
                case 'Z' -> {
                    session.ready();
                    over = true;
                    if (error != null && !error.sqlState().equals(expectedError)) {
                        throw error;
                    }
                    return tag == null ? 0 : CommandTag.affected(tag);
                }
                default -> throw session.unexpected("at the end of a COPY");
            }
        }
    }
}
