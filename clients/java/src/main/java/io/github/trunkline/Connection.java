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
import io.github.trunkline.type.Types;
import io.github.trunkline.wire.Fields;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

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
    private final ReentrantLock lock = new ReentrantLock();
    private volatile QueryListener listener;
    /** What the session is kept busy by, from one call to another: a stream or a COPY. */
    private volatile String occupiedBy;
    private int savepoints;

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
        return locked(() -> exchange.timed(session.config().queryTimeout(), () -> exchange.prepare(sql))).parameterOids();
    }

    /** The columns that a statement gives, without running it; null if it gives no rows. Prepares it if need be. */
    public Columns columns(String sql) {
        return locked(() -> exchange.timed(session.config().queryTimeout(), () -> exchange.prepare(sql))).columns();
    }

    /** Runs a statement and gives its rows, all of them, as the bytes that came. */
    public Rows query(String sql, Object... parameters) {
        return query(Query.of(sql, parameters));
    }

    /** Runs a statement and gives its rows, all of them, as the bytes that came. */
    public Rows query(Query query) {
        return observed(query.sql(), Rows::affected, () -> exchange.timed(limit(query),
                () -> exchange.query(call(query))));
    }

    /** Runs a statement and gives how many rows it changed. */
    public long execute(String sql, Object... parameters) {
        return query(sql, parameters).affected();
    }

    /** Runs a text of several statements. Values come in text format, and there are no parameters. */
    public List<Rows> script(String sql) {
        return observed(sql, results -> results.stream().mapToLong(Rows::affected).sum(),
                () -> exchange.timed(session.config().queryTimeout(), () -> exchange.script(sql)));
    }

    /**
     * Runs statements one after the other in one round trip. They are one transaction: if one fails, none has happened.
     *
     * @throws PipelineException if the server refuses one
     */
    public List<Rows> pipeline(List<Query> queries) {
        var calls = new ArrayList<Exchange.Call>(queries.size());
        queries.forEach(query -> calls.add(call(query)));
        String first = queries.isEmpty() ? "" : queries.get(0).sql();
        return observed(first, results -> results.stream().mapToLong(Rows::affected).sum(),
                () -> exchange.timed(session.config().queryTimeout(), () -> exchange.pipeline(calls)));
    }

    /** Runs one statement for each list of parameters, in one round trip and one transaction. */
    public List<Rows> batch(String sql, Iterable<? extends List<?>> parameterSets) {
        var calls = new ArrayList<Exchange.Call>();
        parameterSets.forEach(set -> calls.add(new Exchange.Call(sql, set.toArray())));
        return observed(sql, results -> results.stream().mapToLong(Rows::affected).sum(),
                () -> exchange.timed(session.config().queryTimeout(), () -> exchange.pipeline(calls)));
    }

    /** Runs a statement and gives its rows as they come. Close the stream, or read it to its end. */
    public RowStream stream(String sql, Object... parameters) {
        return stream(Query.of(sql, parameters));
    }

    /** Runs a statement and gives its rows as they come. Close the stream, or read it to its end. */
    public RowStream stream(Query query) {
        return locked(() -> {
            var source = exchange.timed(limit(query), () -> exchange.stream(call(query), query.fetchRows()));
            occupiedBy = "a stream of rows";
            return new RowStream(exchange, limit(query), source, () -> occupiedBy = null);
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

    /** Runs {@code work} in a transaction: committed at its end, rolled back if it throws. Inside one, it is a savepoint. */
    public <T> T transaction(TransactionMode mode, Function<Connection, T> work) {
        if (inTransaction()) {
            return savepoint(work);
        }
        execute(mode.sql());
        return guarded(work, "commit", "rollback");
    }

    /** Runs {@code work} under a savepoint: what it did is undone if it throws, and the transaction goes on. */
    public <T> T savepoint(Function<Connection, T> work) {
        String name = "trunkline_" + savepoints++;
        try {
            execute("savepoint " + name);
            return guarded(work, "release savepoint " + name,
                    "rollback to savepoint " + name + "; release savepoint " + name);
        } finally {
            savepoints--;
        }
    }

    private <T> T guarded(Function<Connection, T> work, String good, String bad) {
        T result;
        Rows end;
        try {
            result = work.apply(this);
            // Fails too if a statement before it has failed, or a deferred constraint does now.
            end = script(good).get(0);
        } catch (Throwable e) {
            undo(bad, e);
            throw e;
        }
        if (end.tag().equals("ROLLBACK")) {
            // COMMIT of a failed transaction says so by its tag alone.
            throw new PostgresException("the transaction was rolled back instead of committed: a statement in it had "
                    + "failed, and its exception was not passed on");
        }
        return result;
    }

    private void undo(String sql, Throwable because) {
        try {
            if (session.isOpen() && inTransaction()) {
                script(sql);
            }
        } catch (RuntimeException e) {
            // Whether the transaction is still open is unknown: nothing may run in it by mistake.
            close();
            because.addSuppressed(e);
        }
    }

    /** True from BEGIN to COMMIT or ROLLBACK, also when the transaction has failed. */
    public boolean inTransaction() {
        return session.status() != 'I';
    }

    /** True if it is open, in no transaction, and no stream or COPY is left open. */
    public boolean isIdle() {
        return session.isOpen() && session.status() == 'I' && occupiedBy == null;
    }

    /** Begins {@code COPY ... FROM STDIN}: write to what is returned and finish it. */
    public CopyIn copyIn(String sql) {
        return locked(() -> {
            CopyTurn turn = CopyTurn.in(session, sql);
            occupiedBy = "a COPY";
            return new CopyIn(turn, types, () -> occupiedBy = null);
        });
    }

    /** Begins {@code COPY ... TO STDOUT}: read from what is returned and close it. */
    public CopyOut copyOut(String sql) {
        return locked(() -> {
            CopyTurn turn = CopyTurn.out(session, sql);
            occupiedBy = "a COPY";
            return new CopyOut(turn, types, () -> occupiedBy = null);
        });
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
        return locked(this::takeNotifications);
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
            List<Notification> taken = locked(() -> {
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

    /** Hears of every query, for metrics. Null ends it. */
    public void onQuery(QueryListener queries) {
        listener = queries;
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

    private <T> T locked(Supplier<T> work) {
        lock.lock();
        try {
            if (occupiedBy != null) {
                throw new IllegalStateException(
                        "the connection is occupied by " + occupiedBy + ": close it first, or use another connection");
            }
            return work.get();
        } finally {
            lock.unlock();
        }
    }

    private <T> T observed(String sql, Function<T, Long> rows, Supplier<T> work) {
        QueryListener hears = listener;
        if (hears == null) {
            return locked(work);
        }
        long begin = System.nanoTime();
        try {
            T result = locked(work);
            hears.finished(sql, System.nanoTime() - begin, rows.apply(result), null);
            return result;
        } catch (RuntimeException e) {
            hears.finished(sql, System.nanoTime() - begin, 0, e);
            throw e;
        }
    }
}
