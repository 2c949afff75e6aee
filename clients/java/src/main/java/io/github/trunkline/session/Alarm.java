package io.github.trunkline.session;

import io.github.trunkline.CanceledException;
import io.github.trunkline.ConnectionException;
import io.github.trunkline.PostgresException;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Deadlines and interrupts of one session's turns. While a turn is under way, the {@link Watchdog} looks at it. When the
 * turn's time is over or its thread was interrupted, this asks the server to cancel; the server then ends the turn. If the
 * server does not react, this closes the connection.
 *
 * <p>A cancel request travels on another connection than the turn, and names only the session. It could cancel the next turn
 * by mistake, so no turn begins or ends while a request is under way. If it is unknown whether the request has reached the
 * server, the connection is closed.
 */
public final class Alarm {
    /**
     * A cancel request that arrives while the server is between two messages of a turn has no effect. So this repeats it
     * until the turn ends.
     */
    static final long REPEAT_NANOS = Duration.ofMillis(200).toNanos();
    /** How long a server may take to react to a cancel request before the connection is closed. */
    static final long GRACE_NANOS = Duration.ofSeconds(10).toNanos();

    private static final String INTERRUPTED = "the thread that waited for the server was interrupted";

    private enum State { IDLE, RUNNING, CANCELED, KILLED }

    private final Session session;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition delivered = lock.newCondition();
    private int underWay;
    private boolean doubtful;
    private State state = State.IDLE;
    private Thread thread;
    private long deadline;
    private boolean hasDeadline;
    /** The error message for the end of a turn that no cancel request can end; null for all other turns. */
    private String orClose;
    private String reason;
    private long canceledAt;
    private long sentAt;

    Alarm(Session session) {
        this.session = session;
    }

    /** A turn begins on this thread; zero is no limit. */
    void begin(Duration limit) {
        lock.lock();
        try {
            awaitDeliveries();
            state = State.RUNNING;
            thread = Thread.currentThread();
            hasDeadline = !limit.isZero();
            deadline = hasDeadline ? System.nanoTime() + limit.toNanos() : 0;
            reason = null;
        } finally {
            lock.unlock();
        }
    }

    /**
     * A turn begins that no cancel request can end, such as a login, which has no cancel key yet. When its time is over, the
     * connection is closed.
     *
     * @param why the error message for that
     */
    void beginOrClose(Duration limit, String why) {
        begin(limit);
        lock.lock();
        try {
            orClose = why;
        } finally {
            lock.unlock();
        }
    }

    /** The turn is over. */
    void end() {
        lock.lock();
        try {
            awaitDeliveries();
            state = State.IDLE;
            orClose = null;
            thread = null;
        } finally {
            lock.unlock();
        }
    }

    /** Waits until no cancel request is under way. */
    void awaitDeliveries() {
        lock.lock();
        try {
            while (underWay > 0 && session.isOpen() && state != State.KILLED) {
                delivered.awaitUninterruptibly();
            }
            if (doubtful && session.isOpen()) {
                session.fail(new ConnectionException("a cancel request was sent, and may still come and hit another query"));
            }
        } finally {
            lock.unlock();
        }
    }

    /** The exception for a turn that ended with {@code error}: a {@link CanceledException} if the turn was canceled. */
    PostgresException explain(PostgresException error) {
        lock.lock();
        try {
            boolean byCancel = "57014".equals(error.sqlState()) || error instanceof ConnectionException;
            return reason != null && byCancel ? new CanceledException(reason, error) : error;
        } finally {
            lock.unlock();
        }
    }

    /** Called by the watchdog: cancels the turn, or closes the connection, if it is time. */
    void look(long now) {
        lock.lock();
        try {
            if (state == State.RUNNING && thread.isInterrupted()) {
                cancel(now, INTERRUPTED);
            } else if (state == State.RUNNING && hasDeadline && now - deadline >= 0) {
                cancel(now, orClose != null ? orClose : "the query's deadline passed");
            } else if (state == State.CANCELED && now - canceledAt >= GRACE_NANOS) {
                state = State.KILLED;
                session.transport().close();
            } else if (state == State.CANCELED && underWay == 0 && now - sentAt >= REPEAT_NANOS) {
                send();
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Java closed the socket because the thread was interrupted. The server does not know that, and would go on with a query
     * whose result nobody reads.
     */
    void closedByInterrupt() {
        lock.lock();
        try {
            if (state == State.RUNNING) {
                reason = INTERRUPTED;
                state = State.KILLED;
                send();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Why the present or last turn was canceled; null if it was not. */
    String reason() {
        lock.lock();
        try {
            return reason;
        } finally {
            lock.unlock();
        }
    }

    private void cancel(long now, String why) {
        reason = why;
        canceledAt = now;
        if (orClose != null) {
            state = State.KILLED;
            session.transport().close();
        } else {
            state = State.CANCELED;
            send();
        }
    }

    /** In a thread of its own: to connect may take long, and the watchdog has other sessions to look at. */
    private void send() {
        underWay++;
        var sender = new Thread(this::deliver, "trunkline-cancel");
        sender.setDaemon(true);
        sender.start();
    }

    /** Asks the server to cancel the session's query, on this thread. True if the server has taken the request. */
    public boolean cancelNow() {
        lock.lock();
        try {
            underWay++;
        } finally {
            lock.unlock();
        }
        return deliver() == Canceler.Delivery.TAKEN;
    }

    private Canceler.Delivery deliver() {
        var delivery = Canceler.Delivery.UNKNOWN;
        try {
            delivery = Canceler.cancel(session);
        } finally {
            lock.lock();
            try {
                underWay--;
                sentAt = System.nanoTime();
                doubtful |= delivery == Canceler.Delivery.UNKNOWN;
                delivered.signalAll();
            } finally {
                lock.unlock();
            }
        }
        return delivery;
    }
}
