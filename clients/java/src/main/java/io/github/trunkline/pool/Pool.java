package io.github.trunkline.pool;

import io.github.trunkline.Connection;
import io.github.trunkline.ConnectionException;
import io.github.trunkline.PostgresException;
import io.github.trunkline.Query;
import io.github.trunkline.TransactionMode;
import io.github.trunkline.config.Config;
import io.github.trunkline.row.Rows;
import io.github.trunkline.type.Types;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Connections to share. {@link #query} holds one from the first byte sent to the last byte read, and no longer: the rows
 * are decoded after it was given back. Threads wait in the order they came.
 */
public final class Pool implements AutoCloseable {
    private final Config config;
    private final Types types;
    private final int max;
    private final Duration waitMax;
    private final long idleMax;
    private final long lifeMax;
    private final ReentrantLock lock = new ReentrantLock(true);
    private final Condition free = lock.newCondition();
    private final ArrayDeque<Pooled> idle = new ArrayDeque<>();
    private Consumer<Connection> onConnect = connection -> {};
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
    }

    /**
     * How a pool behaves.
     *
     * @param connectionsMax how many connections it has at most
     * @param waitMax how long a thread waits for one
     * @param idleMax a connection that was not used for so long is closed when it would be used
     * @param lifeMax a connection that is so old is closed when it comes back
     */
    public record Settings(int connectionsMax, Duration waitMax, Duration idleMax, Duration lifeMax) {
        /** Ten connections, 30 seconds, 10 minutes, an hour. */
        public static final Settings DEFAULT = new Settings(
                10, Duration.ofSeconds(30), Duration.ofMinutes(10), Duration.ofHours(1));

        /** Refuses what makes no sense. */
        public Settings {
            if (connectionsMax < 1) {
                throw new IllegalArgumentException("connectionsMax is " + connectionsMax + "; the least is 1");
            }
        }

        /** The same with another number of connections. */
        public Settings connectionsMax(int count) {
            return new Settings(count, waitMax, idleMax, lifeMax);
        }

        /** The same with another wait. */
        public Settings waitMax(Duration limit) {
            return new Settings(connectionsMax, limit, idleMax, lifeMax);
        }
    }

    /** A pool of ten connections at most, made when they are needed. */
    public static Pool open(String url) {
        return open(Config.of(url), Settings.DEFAULT);
    }

    /** A pool that knows PostgreSQL's own types. */
    public static Pool open(Config config, Settings settings) {
        return new Pool(config, new Types(), settings);
    }

    /** A pool whose connections share what is known of types. */
    public static Pool open(Config config, Settings settings, Types types) {
        return new Pool(config, types, settings);
    }

    /** Is done with each new connection, before it is used first. */
    public Pool onConnect(Consumer<Connection> action) {
        onConnect = action;
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

    /** Runs a statement on some connection and gives how many rows it changed. */
    public long execute(String sql, Object... parameters) {
        return query(sql, parameters).affected();
    }

    /** Runs statements in one round trip and one transaction, on some connection. */
    public List<Rows> pipeline(List<Query> queries) {
        return with(connection -> connection.pipeline(queries));
    }

    /** Runs {@code work} in a transaction on some connection. */
    public <T> T transaction(TransactionMode mode, Function<Connection, T> work) {
        return with(connection -> connection.transaction(mode, work));
    }

    /** Lends a connection to {@code work}. A transaction it leaves open is rolled back. */
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
        Pooled pooled = reserve();
        return pooled != null ? pooled : connect();
    }

    /** An idle connection, or null if the caller is to make one: its place is counted already. */
    private Pooled reserve() {
        lock.lock();
        try {
            long left = waitMax.toNanos();
            while (true) {
                if (closed) {
                    throw new ConnectionException("the pool is closed");
                }
                Pooled pooled = fresh();
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
        }
    }

    private long await(long nanos) {
        waiting++;
        try {
            return free.awaitNanos(nanos);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            // Whoever was to be woken by the signal that came with the interrupt must not miss it.
            free.signal();
            throw new ConnectionException("interrupted while waiting for a connection of the pool", e);
        } finally {
            waiting--;
        }
    }

    /** The idle connection that was used last; those that lie too long, or are lost, go. */
    private Pooled fresh() {
        long now = System.nanoTime();
        while (!idle.isEmpty()) {
            Pooled pooled = idle.removeLast();
            boolean usable = pooled.connection.isOpen() && now - pooled.usedAt < idleMax && now - pooled.since < lifeMax;
            if (usable) {
                return pooled;
            }
            open--;
            pooled.connection.close();
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
        } catch (RuntimeException e) {
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
        } catch (PostgresException e) {
            clean = false;
        } finally {
            if (!clean) {
                connection.close();
            }
            release(clean ? new Pooled(connection, pooled.since, System.nanoTime()) : null);
        }
    }

    /** A connection is idle again, or, if null, one is gone. */
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

    /** Closes the idle connections at once, the others when they come back, and lets nobody wait any longer. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            idle.forEach(pooled -> pooled.connection.close());
            open -= idle.size();
            idle.clear();
            free.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
