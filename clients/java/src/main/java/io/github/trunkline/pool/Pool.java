package io.github.trunkline.pool;

import io.github.trunkline.Connection;
import io.github.trunkline.ConnectionException;
import io.github.trunkline.Query;
import io.github.trunkline.QueryListener;
import io.github.trunkline.TransactionMode;
import io.github.trunkline.config.Config;
import io.github.trunkline.row.Rows;
import io.github.trunkline.row.Values;
import io.github.trunkline.type.Types;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Connections that threads share. {@link #query} holds a connection from the first byte sent to the last byte read only: the
 * program decodes the rows afterwards. Threads that wait for a connection get one in the order in which they came. The pool
 * checks a connection that was idle for a while before it lends it, because the server may have closed it meanwhile.
 */
public final class Pool implements AutoCloseable {
    /** How long a server may take to answer the check of an idle connection. */
    private static final Duration SIGN_OF_LIFE_MAX = Duration.ofSeconds(5);

    private final Config config;
    private final Types types;
    private final int max;
    private final Duration waitMax;
    private final long idleMax;
    private final long lifeMax;
    private final long checkAfter;
    private final ReentrantLock lock = new ReentrantLock(true);
    private final Condition free = lock.newCondition();
    private final ArrayDeque<Pooled> idle = new ArrayDeque<>();
    private Consumer<Connection> onConnect = connection -> {};
    private volatile QueryListener listener;
    private int open;
    private int waiting;
    private boolean closed;

    private record Pooled(Connection connection, long since, long usedAt) {}

    private Pool(Config config, Types types, Settings settings) {
        this.config = config;
        this.types = types;
        this.max = settings.connectionsMax;
        this.waitMax = settings.waitMax;
        this.idleMax = settings.idleMax.toNanos();
        this.lifeMax = settings.lifeMax.toNanos();
        this.checkAfter = settings.checkAfter.toNanos();
    }

    /**
     * How a pool behaves.
     *
     * @param connectionsMax how many connections it has at most
     * @param waitMax how long a thread waits for one
     * @param idleMax a connection that was idle for longer is closed when it would be lent next
     * @param lifeMax a connection that is older is closed when it would be lent next
     * @param checkAfter a connection that was idle for longer is checked before it is lent, which costs a round trip
     */
    public record Settings(
            int connectionsMax, Duration waitMax, Duration idleMax, Duration lifeMax, Duration checkAfter) {
        /** Ten connections, 30 seconds, 10 minutes, an hour, a second. */
        public static final Settings DEFAULT = new Settings(
                10, Duration.ofSeconds(30), Duration.ofMinutes(10), Duration.ofHours(1), Duration.ofSeconds(1));

        /** Checks the settings. */
        public Settings {
            if (connectionsMax < 1) {
                throw new IllegalArgumentException("connectionsMax is " + connectionsMax + "; the least is 1");
            }
        }

        /** The same with another number of connections. */
        public Settings connectionsMax(int count) {
            return new Settings(count, waitMax, idleMax, lifeMax, checkAfter);
        }

        /** The same with another wait. */
        public Settings waitMax(Duration limit) {
            return new Settings(connectionsMax, limit, idleMax, lifeMax, checkAfter);
        }

        /** The same with another idle time. */
        public Settings idleMax(Duration limit) {
            return new Settings(connectionsMax, waitMax, limit, lifeMax, checkAfter);
        }

        /** The same with another age. */
        public Settings lifeMax(Duration limit) {
            return new Settings(connectionsMax, waitMax, idleMax, limit, checkAfter);
        }

        /** The same with another time after which connections are checked. */
        public Settings checkAfter(Duration time) {
            return new Settings(connectionsMax, waitMax, idleMax, lifeMax, time);
        }
    }

    /** A pool of at most ten connections, which it opens when they are needed. */
    public static Pool open(String url) {
        return open(Config.of(url), Settings.DEFAULT);
    }

    /** A pool with codecs for PostgreSQL's own types. */
    public static Pool open(Config config, Settings settings) {
        return new Pool(config, new Types(), settings);
    }

    /** A pool whose connections share these codecs. */
    public static Pool open(Config config, Settings settings, Types types) {
        return new Pool(config, types, settings);
    }

    /** Sets the action for each new connection, before its first use. */
    public Pool onConnect(Consumer<Connection> action) {
        onConnect = action;
        return this;
    }

    /**
     * Sets the listener for every query, stream and COPY of the connections that the pool lends from now on. It replaces their
     * own ({@code Connection.onQuery}). {@link #size}, {@link #idle} and {@link #waiting} describe the pool itself.
     */
    public Pool onQuery(QueryListener queries) {
        listener = queries;
        return this;
    }

    /** Runs a statement on some connection. */
    public Rows query(String sql, Object... parameters) {
        return query(Query.of(sql, parameters));
    }

    /** Runs a statement on some connection. */
    public Rows query(Query query) {
        return with(connection -> connection.query(query));
    }

    /** Runs a statement on some connection, which is lent until all values are decoded. */
    public Values queryValues(String sql, Object... parameters) {
        return queryValues(Query.of(sql, parameters));
    }

    /** Runs a statement on some connection, which is lent until all values are decoded. */
    public Values queryValues(Query query) {
        return with(connection -> connection.queryValues(query));
    }

    /** Runs a statement on some connection and gives how many rows it changed. */
    public long execute(String sql, Object... parameters) {
        return query(sql, parameters).affected();
    }

    /** Runs a statement on some connection and gives how many rows it changed. */
    public long execute(Query query) {
        return query(query).affected();
    }

    /** Runs statements in one round trip and one transaction, on some connection. */
    public List<Rows> pipeline(List<Query> queries) {
        return with(connection -> connection.pipeline(queries));
    }

    /** Runs {@code work} in a transaction on some connection. */
    public <T> T transaction(TransactionMode mode, Function<Connection, T> work) {
        return with(connection -> connection.transaction(mode, work));
    }

    /** Lends a connection to {@code work}, and rolls back a transaction that {@code work} leaves open. */
    public <T> T with(Function<Connection, T> work) {
        Pooled pooled = take();
        try {
            return work.apply(pooled.connection);
        } finally {
            giveBack(pooled);
        }
    }

    /** How many connections there are, idle or lent. */
    public int size() {
        return counted(() -> open);
    }

    /** How many connections are idle. */
    public int idle() {
        return counted(idle::size);
    }

    /** How many threads wait for a connection. */
    public int waiting() {
        return counted(() -> waiting);
    }

    private int counted(java.util.function.IntSupplier count) {
        lock.lock();
        try {
            return count.getAsInt();
        } finally {
            lock.unlock();
        }
    }

    private Pooled take() {
        while (true) {
            Pooled pooled = reserve();
            pooled = pooled != null ? pooled : connect();
            if (isAlive(pooled)) {
                if (listener != null) {
                    pooled.connection.onQuery(listener);
                }
                return pooled;
            }
            release(null);
        }
    }

    private boolean isAlive(Pooled pooled) {
        boolean isFresh = pooled.usedAt == 0 || System.nanoTime() - pooled.usedAt < checkAfter;
        // After an interrupt the check itself would close the connection, which may be a good one.
        return isFresh || Thread.currentThread().isInterrupted() || pooled.connection.isAlive(SIGN_OF_LIFE_MAX);
    }

    /** An idle connection; or null if the caller must open one, which is counted already. */
    private Pooled reserve() {
        var surplus = new ArrayList<Connection>(0);
        lock.lock();
        try {
            long left = waitMax.toNanos();
            while (true) {
                if (closed) {
                    throw new ConnectionException("the pool is closed");
                }
                Pooled pooled = fresh(surplus);
                if (pooled != null) {
                    return pooled;
                }
                if (open < max) {
                    open++;
                    return null;
                }
                if (left <= 0) {
                    throw new ConnectionException("all " + max + " connections of the pool were in use for "
                            + waitMax.toMillis() + " ms (" + waiting + " more threads wait)");
                }
                left = await(left);
            }
        } finally {
            lock.unlock();
            // Not under the lock: closing a connection writes to its socket.
            surplus.forEach(Connection::close);
        }
    }

    private long await(long nanos) {
        waiting++;
        try {
            return free.awaitNanos(nanos);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            // The signal may have come together with the interrupt: pass it on to the next thread.
            free.signal();
            throw new ConnectionException("interrupted while waiting for a connection of the pool", e);
        } finally {
            waiting--;
        }
    }

    /** The idle connection that was used last. Those that are too old or lost go to {@code surplus}. */
    private Pooled fresh(List<Connection> surplus) {
        long now = System.nanoTime();
        while (!idle.isEmpty()) {
            Pooled pooled = idle.removeLast();
            boolean usable = pooled.connection.isOpen() && now - pooled.usedAt < idleMax && now - pooled.since < lifeMax;
            if (usable) {
                return pooled;
            }
            open--;
            surplus.add(pooled.connection);
        }
        return null;
    }

    private Pooled connect() {
        Connection connection = null;
        try {
            connection = Connection.connect(config, types);
            onConnect.accept(connection);
            lock.lock();
            try {
                if (closed) {
                    throw new ConnectionException("the pool was closed");
                }
            } finally {
                lock.unlock();
            }
            return new Pooled(connection, System.nanoTime(), 0);
        } catch (Throwable e) {
            // Whatever onConnect throws, the connection must not stay counted.
            if (connection != null) {
                connection.close();
            }
            release(null);
            throw e;
        }
    }

    private void giveBack(Pooled pooled) {
        Connection connection = pooled.connection;
        boolean clean = false;
        try {
            if (connection.isOpen()) {
                if (connection.inTransaction()) {
                    connection.execute("rollback");
                }
                clean = connection.isIdle();
            }
        } catch (RuntimeException e) {
            // An exception of the work itself is more important.
            clean = false;
        } finally {
            if (!clean) {
                connection.close();
            }
            release(clean ? new Pooled(connection, pooled.since, System.nanoTime()) : null);
        }
    }

    /** A connection is idle again; null if one was closed. */
    private void release(Pooled pooled) {
        lock.lock();
        try {
            if (pooled == null || closed) {
                open--;
            } else {
                idle.addLast(pooled);
            }
            free.signal();
        } finally {
            lock.unlock();
        }
        if (pooled != null && closed) {
            pooled.connection.close();
        }
    }

    /** Closes the idle connections at once, and the others when they come back. Threads that wait get an exception. */
    @Override
    public void close() {
        List<Pooled> closing;
        lock.lock();
        try {
            closed = true;
            closing = List.copyOf(idle);
            open -= idle.size();
            idle.clear();
            free.signalAll();
        } finally {
            lock.unlock();
        }
        closing.forEach(pooled -> pooled.connection.close());
    }
}
