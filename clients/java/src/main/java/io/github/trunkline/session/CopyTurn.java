package io.github.trunkline.session;

import io.github.trunkline.CanceledException;
import io.github.trunkline.PostgresException;
import io.github.trunkline.ServerException;
import io.github.trunkline.row.CommandTag;
import io.github.trunkline.wire.Backend;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * A COPY between server and client, from its statement to ReadyForQuery. It uses the simple protocol, since COPY has no
 * parameters. The connection's query timeout limits each wait for the server, and an interrupt of the thread ends it.
 */
public final class CopyTurn {
    /** How much is gathered before it is sent. */
    private static final int SEND_BYTES = 64 * 1024;
    /** The largest CopyData message, well below the server's limit (1 GiB). */
    private static final int PIECE_BYTES_MAX = 1024 * 1024;

    private final Session session;
    private final String sql;
    private final Duration limit;
    private boolean binary;
    private String tag;
    private boolean over;
    /** Why the server was asked to cancel; null if it was not. */
    private String canceled;

    private CopyTurn(Session session, String sql) {
        this.session = session;
        this.sql = sql;
        this.limit = session.config().queryTimeout();
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
        var turn = new CopyTurn(session, sql);
        return turn.timed(() -> turn.begin(wanted));
    }

    private CopyTurn begin(char wanted) {
        session.put(() -> session.frontend().query(sql));
        session.send();
        byte type = session.receive();
        while (type == '3') {
            // CloseComplete of a statement that was closed before this.
            session.decode();
            type = session.receive();
        }
        if (type == wanted) {
            binary = ((Backend.CopyResponse) session.decode()).format() == 1;
            return this;
        }
        abandon(type);
        throw new PostgresException("the statement is no COPY "
                + (wanted == 'G' ? "FROM STDIN" : "TO STDOUT") + ": " + sql);
    }

    /** Its statement. */
    public String sql() {
        return sql;
    }

    /** True if its data is in COPY's binary format. */
    public boolean isBinary() {
        return binary;
    }

    private <T> T timed(Supplier<T> work) {
        try {
            return session.timed(limit, work);
        } catch (ServerException e) {
            // The server was asked to cancel while it received data, and reports that at the end.
            throw canceled != null && e.sqlState().equals("57014") ? new CanceledException(canceled, e) : e;
        } finally {
            String reason = session.alarm().reason();
            canceled = reason == null ? canceled : reason;
        }
    }

    /** Ends a turn that did not begin as a COPY of the wanted kind, and throws the server's error if there is one. */
    private void abandon(byte first) {
        ServerException error = null;
        boolean refused = false;
        for (byte type = first;; type = session.receive()) {
            switch (type) {
                case 'E' -> error = Answers.error(session);
                case 'G' -> {
                    session.frontend().copyFail("this client expected no COPY FROM STDIN");
                    session.send();
                    refused = true;
                }
                case 'Z' -> {
                    session.ready();
                    over = true;
                    if (error != null && !(refused && error.sqlState().equals("57014"))) {
                        throw error;
                    }
                    return;
                }
                case 'T', 'D', 'C', 'I', 'H', 'd', 'c' -> session.in();
                default -> throw session.unexpected("in the answer to COPY");
            }
        }
    }

    /** Sends a piece of the data. An error of the server shows only in {@link #finish}. */
    public void write(byte[] bytes, int offset, int length) {
        for (int sent = 0; sent < length; sent += PIECE_BYTES_MAX) {
            session.frontend().copyData(bytes, offset + sent, Math.min(length - sent, PIECE_BYTES_MAX));
            if (session.frontend().out.size() >= SEND_BYTES) {
                send();
            }
        }
    }

    private void send() {
        timed(() -> {
            session.send();
            return null;
        });
    }

    /** Ends the data, and returns how many rows the server has taken. */
    public long finish() {
        session.frontend().copyDone();
        return timed(() -> {
            session.send();
            end(null);
            return rows();
        });
    }

    /** Makes the server undo the COPY. */
    public void fail(String reason) {
        if (over || !session.isOpen()) {
            return;
        }
        session.frontend().copyFail(reason.replace('\0', '?'));
        timed(() -> {
            session.send();
            end("57014");
            return null;
        });
    }

    /** Goes to the message with the next piece of the data; false at the end. */
    public boolean read() {
        if (over) {
            return false;
        }
        return session.in().hasCopyData() ? next() : timed(this::next);
    }

    private boolean next() {
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

    /** Reads the rest of the data and drops it. */
    public void drain() {
        while (session.isOpen() && read()) {
            // Dropped.
        }
    }

    /** How many rows were copied, as the server says; 0 before the end. */
    public long rows() {
        return tag == null ? 0 : CommandTag.affected(tag);
    }

    private void end(String expectedError) {
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
                    return;
                }
                default -> throw session.unexpected("at the end of a COPY");
            }
        }
    }
}
