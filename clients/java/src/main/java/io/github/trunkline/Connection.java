package io.github.trunkline;

import io.github.trunkline.config.Config;
import io.github.trunkline.copy.CopyIn;
import io.github.trunkline.copy.CopyOut;
import io.github.trunkline.row.Columns;
import io.github.trunkline.row.Row;
import io.github.trunkline.row.Rows;
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
 * A connection to PostgreSQL. Threads may share one: each call waits for the one before it. A transaction belongs to the
 * connection and not to a thread, so threads that use transactions want connections of their own, from a
 * {@link io.github.trunkline.pool.Pool}.
 *
 * <p>Every statement is prepared at its first use and kept by its text. Values are sent and read in binary wherever their
 * type has a binary format. A String is sent as text for any type, and the server reads it.
 */
public final class Connection implements AutoCloseable {
    /** So that a wait for notifications notices an interrupt. */
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

    /** Connects, and knows PostgreSQL's own types. */
    public static Connection connect(Config config) {
        return connect(config, new Types());
    }

    /**
     * Connects.
     *
     * @param types what is known of types; connections to one database may share it
     */
    public static Connection connect(Config config, Types types) {
        return new Connection(Connector.connect(config), types);
    }

    /** Prepares a statement ahead of its first use, and gives the types of its parameters: object ids, unsigned. */
    public int[] prepare(String sql) {
        return turns.run(() -> exchange.timed(session.config().queryTimeout(), () -> exchange.prepare(sql))).parameterOids();
    }

    /** The columns that a statement gives, without running it; null if it gives no rows. Prepares it if need be. */
    public Columns columns(String sql) {
        return turns.run(() -> exchange.timed(session.config().queryTimeout(), () -> exchange.prepare(sql))).columns();
    }

    /** Runs a statement and gives its rows, all of them, as the bytes that came. */
    public Rows query(String sql, Object... parameters) {
        return query(Query.of(sql, parameters));
    }

    /** Runs a statement and gives its rows, all of them, as the bytes that came. */
    public Rows query(Query query) {
        return turns.observed(query.sql(), Rows::affected, () -> exchange.timed(limit(query),
                () -> exchange.query(call(query))));
    }

    /** Runs a statement and gives how many rows it changed. */
    public long execute(String sql, Object... parameters) {
        return query(sql, parameters).affected();
    }

    /** Runs a statement and gives how many rows it changed. */
    public long execute(Query query) {
        return query(query).affected();
    }

    /** Runs a text of several statements. Values come in text format, and there are no parameters. */
    public List<Rows> script(String sql) {
        return turns.observed(sql, results -> results.stream().mapToLong(Rows::affected).sum(),
                () -> exchange.timed(session.config().queryTimeout(), () -> exchange.script(sql)));
    }

    /**
     * Runs statements one after the other in one round trip. They are one transaction: if one fails, none has happened.
     * All together may take as long as the longest timeout that one of them has; if none has one, as the connection is
     * configured.
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
     * @param limit how long all together may take; zero is for ever
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

    /** Runs a statement and gives its rows as they come. Close the stream, or read it to its end. */
    public RowStream stream(String sql, Object... parameters) {
        return stream(Query.of(sql, parameters));
    }

    /** Runs a statement and gives its rows as they come. Close the stream, or read it to its end. */
    public RowStream stream(Query query) {
        return turns.occupy("a stream of rows", query.sql(), atEnd -> {
            var source = exchange.timed(limit(query), () -> exchange.stream(call(query), query.fetchRows()));
            return new RowStream(exchange, limit(query), source, atEnd);
        });
    }

    /** Runs a statement and hands each row to {@code action} as it comes. */
    public void forEach(Query query, Consumer<Row> action) {
        try (RowStream rows = stream(query)) {
            rows.forEachRemaining(action);
        }
    }

    /**
     * Folds a statement's rows as they come, in bounded memory.
     *
     * @param step makes the next value of the present one and a row
     * @param enough looks at each value, and ends early when it says so
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

    /** Folds all of a statement's rows as they come, in bounded memory. */
    public <A> A reduce(Query query, A initial, BiFunction<A, Row, A> step) {
        return reduce(query, initial, step, value -> false);
    }

    /** Runs {@code work} in a transaction: committed at its end, rolled back if it throws. */
    public <T> T transaction(Function<Connection, T> work) {
        return transaction(TransactionMode.DEFAULT, work);
    }

    /**
     * Runs {@code work} in a transaction: committed at its end, rolled back if it throws. Inside one, it is a savepoint; the
     * mode may make it read only, but an isolation level other than the transaction's is refused by the server (25001).
     */
    public <T> T transaction(TransactionMode mode, Function<Connection, T> work) {
        return transactions.run(mode, work);
    }

    /** Runs {@code work} under a savepoint: what it did is undone if it throws, and the transaction goes on. */
    public <T> T savepoint(Function<Connection, T> work) {
        return transactions.savepoint(TransactionMode.DEFAULT, work);
    }

    /** True from BEGIN to COMMIT or ROLLBACK, also when the transaction has failed. */
    public boolean inTransaction() {
        return session.status() != 'I';
    }

    /** True if it is open, in no transaction, and no stream or COPY is left open. */
    public boolean isIdle() {
        return session.isOpen() && session.status() == 'I' && !turns.isOccupied();
    }

    /** Begins {@code COPY ... FROM STDIN}: write to what is returned and finish it. */
    public CopyIn copyIn(String sql) {
        return turns.occupy("a COPY", sql, atEnd -> new CopyIn(CopyTurn.in(session, sql), types, atEnd));
    }

    /**
     * Puts rows into a table by COPY: in binary if each column's type is written in it here, else in text. If a row cannot
     * be sent, or {@code rows} throws, none is there.
     *
     * @param table the table as SQL names it: {@code users}, {@code shop."Users"}
     * @param columns the columns' names as they are; none stands for all of the table's
     * @param rows a value for each column, of the classes that parameters have
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

    /** Begins {@code COPY ... TO STDOUT}: read from what is returned and close it. */
    public CopyOut copyOut(String sql) {
        return turns.occupy("a COPY", sql, atEnd -> new CopyOut(CopyTurn.out(session, sql), types, atEnd));
    }

    /** Begins to hear a channel's notifications. */
    public void listen(String channel) {
        execute("listen " + quoteIdentifier(channel));
    }

    /** Stops hearing a channel's notifications. */
    public void unlisten(String channel) {
        execute("unlisten " + quoteIdentifier(channel));
    }

    /** Notifies all who listen to {@code channel}: at the transaction's end, if there is one. */
    public void notify(String channel, String payload) {
        query("select pg_catalog.pg_notify($1, $2)", channel, payload);
    }

    /** The notifications that have come with other answers, and takes them. Sends nothing and does not wait. */
    public List<Notification> notifications() {
        return turns.run(this::takeNotifications);
    }

    private List<Notification> takeNotifications() {
        var taken = new ArrayList<>(session.notifications());
        session.notifications().clear();
        return taken;
    }

    /**
     * Waits for notifications and takes them; none if there are none after {@code limit}. The connection can do nothing
     * else meanwhile.
     *
     * @throws InterruptedException if the thread is interrupted; the connection goes on
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

    /** How many notifications were dropped because nobody took them. */
    public long notificationsDropped() {
        return session.notificationsDropped();
    }

    /** Hears every notice of the server, on the thread whose query it came with. */
    public void onNotice(Consumer<Fields> notices) {
        session.onNotice(notices);
    }

    /** Hears of every query, stream and COPY, for metrics. Null ends it. */
    public void onQuery(QueryListener queries) {
        turns.onQuery(queries);
    }

    /**
     * Asks the server for a sign of life, which costs a round trip. A connection that gives none is closed.
     *
     * @param limit how long it may take; zero is for ever
     * @return false if the connection is closed
     */
    public boolean isAlive(Duration limit) {
        return isOpen() && turns.run(() -> exchange.isAlive(limit));
    }

    /**
     * Asks the server to cancel what this connection is doing, and waits until it has taken the request. For other threads.
     * What the connection is asked to do meanwhile begins afterwards, so that the request hits nothing else.
     *
     * @return false if the request did not come, or nobody knows: then the connection is closed at the end of its query
     */
    public boolean cancel() {
        return session.alarm().cancelNow();
    }

    /** What the server has reported under a name: server_version, TimeZone, application_name and so on; else null. */
    public String parameter(String name) {
        return session.parameters().get(name);
    }

    /** The server process that serves this connection. */
    public int processId() {
        return session.processId();
    }

    /** What is known of types. */
    public Types types() {
        return types;
    }

    /** False once it is closed or lost. */
    public boolean isOpen() {
        return session.isOpen();
    }

    /** Says good-bye to the server. What is under way in other threads fails. */
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
