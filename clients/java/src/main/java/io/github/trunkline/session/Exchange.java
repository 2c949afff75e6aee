package io.github.trunkline.session;

import io.github.trunkline.PipelineException;
import io.github.trunkline.PostgresException;
import io.github.trunkline.ServerException;
import io.github.trunkline.ValueException;
import io.github.trunkline.row.RowCollector;
import io.github.trunkline.row.Rows;
import io.github.trunkline.row.ValueCollector;
import io.github.trunkline.row.Values;
import io.github.trunkline.type.Types;
import io.github.trunkline.wire.Backend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/** Turns with a server. Each begins when the session is idle, and ends with the server's ReadyForQuery. */
public final class Exchange {
    /**
     * How many bytes are sent before answers are read. A server that cannot send its answers stops reading. The bytes sent
     * by then must fit into the sockets' buffers, or both sides would wait for each other for ever.
     */
    static final int UNANSWERED_BYTES_MAX = 32 * 1024;
    /** First words of the tags of statements that a rollback undoes. Others, such as COMMIT and VACUUM, may last. */
    private static final Set<String> UNDONE = Set.of("SELECT", "INSERT", "UPDATE", "DELETE", "MERGE");

    private final Session session;
    private final Types types;
    private final Statements statements;

    /** @param types the codecs; codecs for new types are added */
    public Exchange(Session session, Types types) {
        this.session = session;
        this.types = types;
        this.statements = new Statements(session, types);
    }

    /** The prepared statements. */
    public Statements statements() {
        return statements;
    }

    /**
     * A statement with its values.
     *
     * @param sql its text, with $1, $2 and so on
     * @param values its parameters' values
     */
    public record Call(String sql, Object[] values) {
        /** The protocol counts parameters with two bytes. */
        private static final int VALUES_MAX = 65_535;

        /** Refuses more values than the protocol can count: the server would report a misleading error. */
        public Call {
            if (values.length > VALUES_MAX) {
                throw new ValueException("a statement can have 65,535 parameters, not " + values.length
                        + ": send arrays (unnest, any), a batch, or use COPY");
            }
        }
    }

    /** Runs {@code work} under a time limit; zero is none. An interrupt of the thread also ends it. */
    public <T> T timed(Duration limit, Supplier<T> work) {
        return session.timed(limit, work);
    }

    /**
     * Checks with a round trip that the server still answers, and closes the connection if it does not.
     *
     * @param limit how long it may take
     * @return false if the connection is closed
     */
    public boolean isAlive(Duration limit) {
        session.alarm().beginOrClose(limit, "the server gave no sign of life");
        try {
            session.frontend().sync();
            session.send();
            Answers.ready(session, new Answers.Outcome());
        } catch (PostgresException e) {
            session.fail(e);
        } finally {
            session.alarm().end();
        }
        return session.isOpen();
    }

    /** The statement of a text. */
    public Prepared prepare(String sql) {
        return statements.get(sql);
    }

    /** Runs one statement, and decodes its values as they come. */
    public Values values(Call call) {
        Prepared statement = statements.get(call.sql);
        try {
            return values(statement, call.values);
        } catch (ServerException e) {
            return values(mended(statement, e), call.values);
        }
    }

    private Values values(Prepared statement, Object[] parameters) {
        var collector = new ValueCollector(statement.columnsOrNone());
        Rows rows = run(statement, parameters, collector);
        return new Values(rows.columns(), collector.values(), rows.tag());
    }

    /** Runs one statement. */
    public Rows query(Call call) {
        if (session.config().textFirst() && !statements.has(call.sql) && FirstRun.suits(session, call.values)) {
            return new FirstRun(session, statements, call.sql).run(call.values);
        }
        Prepared statement = statements.get(call.sql);
        try {
            return run(statement, call.values);
        } catch (ServerException e) {
            return run(mended(statement, e), call.values);
        }
    }

    /** The statement to run instead of one that the server refused; throws the refusal if there is no such statement. */
    private Prepared mended(Prepared statement, ServerException refusal) {
        // In a failed transaction it cannot run again now; its next run succeeds.
        if (!statements.mend(statement, refusal) || session.status() != 'I') {
            throw refusal;
        }
        return statements.get(statement.sql());
    }

    private Rows run(Prepared statement, Object[] values) {
        return run(statement, values, new RowCollector(statement.columnsOrNone()));
    }

    private Rows run(Prepared statement, Object[] values, RowCollector into) {
        statement.bind(session.frontend(), values);
        session.frontend().execute("", 0);
        session.frontend().sync();
        session.send();
        var outcome = new Answers.Outcome();
        Rows rows = Answers.rows(session, into, outcome);
        Answers.ready(session, outcome);
        return rows;
    }

    /** Opens a stream of a statement's rows; {@code fetchRows} at a time, or all for 0. */
    public RowSource stream(Call call, int fetchRows) {
        Prepared statement = statements.get(call.sql);
        try {
            return open(statement, call.values, fetchRows);
        } catch (ServerException e) {
            return open(mended(statement, e), call.values, fetchRows);
        }
    }

    private RowSource open(Prepared statement, Object[] values, int fetchRows) {
        statement.bind(session.frontend(), values);
        return new RowSource(session, statement, fetchRows);
    }

    /**
     * Runs statements one after the other without waiting in between. They are one transaction: if one fails, all are undone,
     * unless the statements themselves say BEGIN or COMMIT.
     */
    public List<Rows> pipeline(List<Call> calls) {
        var harmless = new boolean[] {true};
        try {
            return pipeline(calls, harmless);
        } catch (PipelineException e) {
            boolean mended = false;
            for (Call call : calls) {
                // If one is out of date, others are likely to be, too.
                Prepared statement = statements.known(call.sql);
                mended |= statement != null && statements.mend(statement, (ServerException) e.getCause());
            }
            if (!mended || session.status() != 'I' || !harmless[0]) {
                throw e;
            }
            return pipeline(calls, harmless);
        }
    }

    /** @param harmless becomes false if a statement ran whose effect a rollback may not undo */
    private List<Rows> pipeline(List<Call> calls, boolean[] harmless) {
        var texts = new LinkedHashSet<String>();
        calls.forEach(call -> texts.add(call.sql));
        Map<String, Prepared> prepared = statements.getAll(texts);
        var results = new ArrayList<Rows>(calls.size());
        var outcome = new Answers.Outcome();
        ValueException unsendable = null;
        int next = 0;
        while (next < calls.size() && outcome.error == null && unsendable == null) {
            int first = next;
            int before = session.frontend().out.size();
            try {
                next = putSome(calls, next, prepared);
            } catch (ValueException e) {
                unsendable = new ValueException("statement " + first + " or later of the pipeline: " + e.getMessage(), e);
                session.frontend().out.truncate(before);
                if (first == 0) {
                    throw unsendable;
                }
                refuse();
                break;
            } catch (Error e) {
                session.frontend().out.truncate(before);
                if (first > 0) {
                    session.fail(new PostgresException("the program failed in the middle of a pipeline: " + e));
                }
                throw e;
            }
            if (next == calls.size()) {
                session.frontend().sync();
            } else {
                session.frontend().flush();
            }
            session.send();
            for (int i = first; i < next && outcome.error == null; i++) {
                Rows rows = Answers.rows(
                        session, new RowCollector(prepared.get(calls.get(i).sql).columnsOrNone()), outcome);
                results.add(rows);
                harmless[0] &= rows == null || UNDONE.contains(rows.tag().split(" ", 2)[0]);
            }
        }
        finish(next < calls.size() || calls.isEmpty(), outcome, unsendable, results.size() - 1);
        return results;
    }

    /** Puts Bind and Execute of as many calls as may be sent before answers are read; at least one. */
    private int putSome(List<Call> calls, int first, Map<String, Prepared> prepared) {
        int next = first;
        do {
            Call call = calls.get(next);
            int before = session.frontend().out.size();
            prepared.get(call.sql).bind(session.frontend(), call.values);
            session.frontend().execute("", 0);
            if (next > first && session.frontend().out.size() > UNANSWERED_BYTES_MAX) {
                // Too large to be sent together with others: it is sent alone, later.
                session.frontend().out.truncate(before);
                return next;
            }
            next++;
        } while (next < calls.size() && session.frontend().out.size() < UNANSWERED_BYTES_MAX);
        return next;
    }

    /** Makes the server undo the pipeline so far, by a statement with a syntax error. */
    private void refuse() {
        session.frontend().parse("", "trunkline: a parameter of this pipeline cannot be sent");
    }

    private void finish(boolean syncMissing, Answers.Outcome outcome, ValueException unsendable, int last) {
        if (syncMissing) {
            session.frontend().sync();
            session.send();
        }
        try {
            Answers.ready(session, outcome);
        } catch (ServerException e) {
            throw unsendable != null ? unsendable : new PipelineException(Math.max(last, 0), e);
        }
    }

    /** Runs a text of several statements by the simple protocol. Values come as text. */
    public List<Rows> script(String text) {
        session.put(() -> session.frontend().query(text));
        session.send();
        var results = new ArrayList<Rows>();
        var outcome = new Answers.Outcome();
        RowCollector rows = null;
        int rowsEnd = 0;
        Inbound in = session.in();
        while (true) {
            switch (session.receive()) {
                case 'T' -> {
                    rows = new RowCollector(Statements.textColumns(
                            ((Backend.RowDescription) session.decode()).columns(), types));
                    in.gather(rows);
                }
                case 'D' -> {
                    if (rows == null) {
                        throw session.unexpected("before RowDescription");
                    }
                    Answers.row(session, rows.columns());
                    rows.add(in.start());
                    rowsEnd = in.takeRows(rows, in.end());
                }
                case 'C' -> {
                    String tag = ((Backend.CommandComplete) session.decode()).tag();
                    if (rows == null) {
                        rows = new RowCollector(new io.github.trunkline.row.Columns(
                                List.of(), new io.github.trunkline.type.Decoder[0]));
                    }
                    in.settle(rows, rowsEnd);
                    results.add(rows.finish(tag));
                    rows = null;
                }
                case 'E' -> {
                    outcome.error = Answers.error(session);
                    in.gather(null);
                }
                // CloseComplete of a statement that was closed before this.
                case '3' -> session.decode();
                case 'I', 'H', 'd', 'c' -> session.decode();
                case 'G' -> {
                    session.decode();
                    session.frontend().copyFail("this client expected no COPY");
                    session.send();
                }
                case 'Z' -> {
                    session.ready();
                    if (outcome.error != null) {
                        throw outcome.error;
                    }
                    return results;
                }
                default -> throw session.unexpected("in the answer to a query");
            }
        }
    }
}
