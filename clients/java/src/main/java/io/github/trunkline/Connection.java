package io.github.trunkline;

import io.github.trunkline.config.Config;
import io.github.trunkline.copy.CopyIn;
import io.github.trunkline.copy.CopyOut;
import io.github.trunkline.row.Columns;
import io.github.trunkline.row.Row;
import io.github.trunkline.row.Rows;
import io.github.trunkline.row.Values;
import io.github.trunkline.session.Connector;
import io.github.trunkline.session.CopyTurn;
import io.github.trunkline.session.Exchange;
import io.github.trunkline.session.Session;
import io.github.trunkline.type.Codec;
import io.github.trunkline.type.Types;
import io.github.trunkline.wire.Fields;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * A connection to PostgreSQL. Threads may share a connection: each call waits for the one before it. A transaction belongs to
 * the connection, not to a thread, so a thread that uses transactions takes a connection of its own from a
 * {@link io.github.trunkline.pool.Pool}.
 *
 * <p>The connection prepares each statement at its first use and keeps it by its text. It sends and reads values in binary
 * if their type has a binary format. It sends a String as text for a parameter of any type, and the server parses it.
 */
public final class Connection implements AutoCloseable {
    /** A wait for notifications looks for an interrupt this often. */
    private static final int LISTEN_MILLISECONDS = 100;

    private final Session session;
    private final Exchange exchange;
    private final Types types;
    private final Turns turns = new Turns();
    private final Transactions transactions = new Transactions(this);

    private Connection(Session session, Types types) {
        this.session = session;
        this.types = types;
        this.exchange = new Exchange(session, types);
    }

    /** Connects by a URL: {@code postgres://user:password@host:5432/database?sslmode=require}. */
    public static Connection connect(String url) {
        return connect(Config.of(url));
    }

    /** Connects, with codecs for PostgreSQL's own types. */
    public static Connection connect(Config config) {
        return connect(config, new Types());
    }

    /**
     * Connects.
     *
     * @param types the codecs; connections to one database may share the object
     */
    public static Connection connect(Config config, Types types) {
        return new Connection(Connector.connect(config), types);
    }

    /** Prepares a statement before its first use, and returns the types of its parameters: unsigned object ids. */
    public int[] prepare(String sql) {
        return turns.run(() -> exchange.timed(session.config().queryTimeout(), () -> exchange.prepare(sql))).parameterOids();
    }

    /** The columns of a statement's rows, without running it; null if it returns no rows. Prepares the statement if needed. */
    public Columns columns(String sql) {
        return turns.run(() -> exchange.timed(session.config().queryTimeout(), () -> exchange.prepare(sql))).columns();
    }

    /** Runs a statement and returns all its rows as the received bytes. */
    public Rows query(String sql, Object... parameters) {
        return query(Query.of(sql, parameters));
    }

    /** Runs a statement and returns all its rows as the received bytes. */
    public Rows query(Query query) {
        return turns.observed(query.sql(), Rows::affected, () -> exchange.timed(limit(query),
                () -> exchange.query(call(query))));
    }

    /** Runs a statement and returns all its values, decoded while the rows arrive. */
    public Values queryValues(String sql, Object... parameters) {
        return queryValues(Query.of(sql, parameters));
    }

    /**
     * Runs a statement and returns all its values, decoded while the rows arrive. The received bytes are not kept, so this
     * costs less than {@link #query} for a program that wants every column of every row. If a value cannot be decoded, this
     * reads the answer to its end and then throws; the connection stays usable.
     */
    public Values queryValues(Query query) {
        return turns.observed(query.sql(), Values::affected, () -> exchange.timed(limit(query),
                () -> exchange.values(call(query))));
    }

    /** Runs a statement and returns how many rows it changed. */
    public long execute(String sql, Object... parameters) {
        return query(sql, parameters).affected();
    }

    /** Runs a statement and returns how many rows it changed. */
    public long execute(Query query) {
        return query(query).affected();
    }

    /** Runs a text of several statements. Values come in text format, and there are no parameters. */
    public List<Rows> script(String sql) {
        return turns.observed(sql, results -> results.stream().mapToLong(Rows::affected).sum(),
                () -> exchange.timed(session.config().queryTimeout(), () -> exchange.script(sql)));
    }

    /**
     * Runs statements one after the other in one round trip and one transaction: if one fails, all are undone. The time limit
     * for all of them together is the longest of their timeouts, or the connection's if no statement has one.
     *
     * @throws PipelineException if the server refuses one
     */
    public List<Rows> pipeline(List<Query> queries) {
        var calls = new ArrayList<Exchange.Call>(queries.size());
        queries.forEach(query -> calls.add(call(query)));
        return pipeline(calls, longest(queries));
    }

    /** Runs one statement for each list of parameters, in one round trip and one transaction. */
    public List<Rows> batch(String sql, Iterable<? extends List<?>> parameterSets) {
        return batch(sql, parameterSets, session.config().queryTimeout());
    }

    /**
     * Runs one statement for each list of parameters, in one round trip and one transaction.
     *
     * @param limit how long all of them together may take; zero is no limit
     */
    public List<Rows> batch(String sql, Iterable<? extends List<?>> parameterSets, Duration limit) {
        var calls = new ArrayList<Exchange.Call>();
        parameterSets.forEach(set -> calls.add(new Exchange.Call(sql, set.toArray())));
        return pipeline(calls, limit);
    }

    private List<Rows> pipeline(List<Exchange.Call> calls, Duration limit) {
        return turns.observed(calls.isEmpty() ? "" : calls.get(0).sql(),
                results -> results.stream().mapToLong(Rows::affected).sum(),
                () -> exchange.timed(limit, () -> exchange.pipeline(calls)));
    }

    private Duration longest(List<Query> queries) {
        Duration longest = null;
        for (Query query : queries) {
            Duration own = query.timeout();
            if (own != null && own.isZero()) {
                return own;
            }
            longest = own == null || longest != null && longest.compareTo(own) >= 0 ? longest : own;
        }
        return longest == null ? session.config().queryTimeout() : longest;
    }

    /** Runs a statement and returns its rows as they arrive. Close the stream, or read it to its end. */
    public RowStream stream(String sql, Object... parameters) {
        return stream(Query.of(sql, parameters));
    }

    /** Runs a statement and returns its rows as they arrive. Close the stream, or read it to its end. */
    public RowStream stream(Query query) {
        return turns.occupy("a stream of rows", query.sql(), atEnd -> {
            var source = exchange.timed(limit(query), () -> exchange.stream(call(query), query.fetchRows()));
            return new RowStream(exchange, limit(query), source, atEnd);
        });
    }

    /** Runs a statement and passes each row to {@code action} as it arrives. */
    public void forEach(Query query, Consumer<Row> action) {
        try (RowStream rows = stream(query)) {
            rows.forEachRemaining(action);
        }
    }

    /**
     * Folds a statement's rows as they arrive, in bounded memory.
     *
     * @param step computes the next value from the present value and a row
     * @param enough is asked about each value; true ends the fold early
     */
    public <A> A reduce(Query query, A initial, BiFunction<A, Row, A> step, Predicate<A> enough) {
        A value = initial;
        try (RowStream rows = stream(query)) {
            while (!enough.test(value) && rows.hasNext()) {
                value = step.apply(value, rows.next());
            }
        }
        return value;
    }

    /** Folds all of a statement's rows as they arrive, in bounded memory. */
    public <A> A reduce(Query query, A initial, BiFunction<A, Row, A> step) {
        return reduce(query, initial, step, value -> false);
    }

    /** Runs {@code work} in a transaction, and commits it; rolls back if {@code work} throws. */
    public <T> T transaction(Function<Connection, T> work) {
        return transaction(TransactionMode.DEFAULT, work);
    }

    /**
     * Runs {@code work} in a transaction, and commits it; rolls back if {@code work} throws. Within a transaction this is a
     * savepoint. The mode can make the savepoint read only, but the server refuses another isolation level (25001).
     */
    public <T> T transaction(TransactionMode mode, Function<Connection, T> work) {
        return transactions.run(mode, work);
    }

    /** Runs {@code work} in a savepoint. If {@code work} throws, its changes are undone, and the transaction goes on. */
    public <T> T savepoint(Function<Connection, T> work) {
        return transactions.savepoint(TransactionMode.DEFAULT, work);
    }

    /** True from BEGIN to COMMIT or ROLLBACK, also when the transaction has failed. */
    public boolean inTransaction() {
        return session.status() != 'I';
    }

    /** True if the connection is open, in no transaction, and has no open stream or COPY. */
    public boolean isIdle() {
        return session.isOpen() && session.status() == 'I' && !turns.isOccupied();
    }

    /** Begins {@code COPY ... FROM STDIN}. Write the data to the result, and call its {@code finish}. */
    public CopyIn copyIn(String sql) {
        return turns.occupy("a COPY", sql, atEnd -> new CopyIn(CopyTurn.in(session, sql), types, atEnd));
    }

    /**
     * Puts rows into a table by COPY, in binary if every column's type has an encoder, else in text. If a row cannot be sent,
     * or {@code rows} throws, the table stays unchanged.
     *
     * @param table the table as SQL names it: {@code users}, {@code shop."Users"}
     * @param columns the columns' names, without quotes; an empty list stands for all columns
     * @param rows for each row a value for each column, of the classes that parameters can have
     * @return how many rows the server has taken
     */
    public long copyRows(String table, List<String> columns, Iterable<? extends List<?>> rows) {
        String names = columns.stream().map(Connection::quoteIdentifier).collect(Collectors.joining(", "));
        Columns described = columns("select " + (columns.isEmpty() ? "*" : names) + " from " + table);
        var oids = new int[described.size()];
        boolean binary = true;
        for (int i = 0; i < oids.length; i++) {
            oids[i] = described.description(i).typeOid();
            Codec codec = types.codec(oids[i]);
            binary &= codec != null && codec.encoder() != null;
        }
        CopyIn in = copyIn("copy " + table + (columns.isEmpty() ? "" : " (" + names + ")") + " from stdin"
                + (binary ? " with (format binary)" : ""));
        return in.rows(oids, rows);
    }

    /** Begins {@code COPY ... TO STDOUT}. Read the data from the result, and close it. */
    public CopyOut copyOut(String sql) {
        return turns.occupy("a COPY", sql, atEnd -> new CopyOut(CopyTurn.out(session, sql), types, atEnd));
    }

    /** Begins to receive a channel's notifications. */
    public void listen(String channel) {
        execute("listen " + quoteIdentifier(channel));
    }

    /** Stops receiving a channel's notifications. */
    public void unlisten(String channel) {
        execute("unlisten " + quoteIdentifier(channel));
    }

    /** Notifies the sessions that listen to {@code channel}; within a transaction, when it commits. */
    public void notify(String channel, String payload) {
        query("select pg_catalog.pg_notify($1, $2)", channel, payload);
    }

    /** Takes the notifications that arrived with other answers. Sends nothing and does not wait. */
    public List<Notification> notifications() {
        return turns.run(this::takeNotifications);
    }

    private List<Notification> takeNotifications() {
        var taken = new ArrayList<>(session.notifications());
        session.notifications().clear();
        return taken;
    }

    /**
     * Waits for notifications and takes them. The list is empty if none arrived within {@code limit}. The connection can do
     * nothing else meanwhile.
     *
     * @throws InterruptedException if the thread is interrupted; the connection stays usable
     */
    public List<Notification> awaitNotifications(Duration limit) throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        while (true) {
            long left = (end - System.nanoTime()) / 1_000_000;
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            List<Notification> taken = turns.run(() -> {
                if (session.notifications().isEmpty()) {
                    session.listen((int) Math.max(1, Math.min(left, LISTEN_MILLISECONDS)));
                }
                return takeNotifications();
            });
            if (!taken.isEmpty() || left <= 0) {
                return taken;
            }
        }
    }

    /** How many notifications the connection dropped because the program did not take them in time. */
    public long notificationsDropped() {
        return session.notificationsDropped();
    }

    /** Sets the listener for the server's notices. It runs on the thread of the query that the notice came with. */
    public void onNotice(Consumer<Fields> notices) {
        session.onNotice(notices);
    }

    /** Sets the listener for every query, stream and COPY, for metrics; null removes it. */
    public void onQuery(QueryListener queries) {
        turns.onQuery(queries);
    }

    /**
     * Checks with a round trip that the server still answers. If it does not, the connection is closed.
     *
     * @param limit how long it may take; zero is no limit
     * @return false if the connection is closed
     */
    public boolean isAlive(Duration limit) {
        return isOpen() && turns.run(() -> exchange.isAlive(limit));
    }

    /**
     * Asks the server to cancel this connection's query, and waits until the server has taken the request. To be called by
     * another thread. A query that begins meanwhile waits, so that the request cannot cancel it.
     *
     * @return false if the request did not reach the server, or if that is unknown; if it is unknown, the connection closes at
     *     the end of its query
     */
    public boolean cancel() {
        return session.alarm().cancelNow();
    }

    /** A parameter that the server has reported, such as server_version, TimeZone or application_name; null for any other. */
    public String parameter(String name) {
        return session.parameters().get(name);
    }

    /** The server process that serves this connection. */
    public int processId() {
        return session.processId();
    }

    /** The codecs of this connection. */
    public Types types() {
        return types;
    }

    /** False once the connection is closed or lost. */
    public boolean isOpen() {
        return session.isOpen();
    }

    /** Ends the session and closes the connection. Calls of other threads that are under way fail. */
    @Override
    public void close() {
        session.close();
    }

    /** An identifier in quotes, as SQL wants it. */
    public static String quoteIdentifier(String name) {
        return '"' + name.replace("\"", "\"\"") + '"';
    }

    private Duration limit(Query query) {
        return query.timeout() == null ? session.config().queryTimeout() : query.timeout();
    }

    private static Exchange.Call call(Query query) {
        return new Exchange.Call(query.sql(), query.parameters().toArray());
    }
}
