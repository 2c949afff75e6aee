package io.github.trunkline;

import io.github.trunkline.session.AtEnd;
import io.github.trunkline.session.Listeners;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/**
 * Lets one call after the other use a connection, and none while a stream or a COPY is open. Tells the listener for queries
 * about each call that has ended.
 */
final class Turns {
    private final ReentrantLock lock = new ReentrantLock();
    private volatile QueryListener listener;
    /** The open stream or COPY, in words for an error message; null if there is none. */
    private volatile String occupiedBy;

    void onQuery(QueryListener queries) {
        listener = queries;
    }

    boolean isOccupied() {
        return occupiedBy != null;
    }

    /** Runs {@code work} when all calls before it are done. */
    <T> T run(Supplier<T> work) {
        if (lock.isHeldByCurrentThread()) {
            // A call within this one would read the rest of this one's answer.
            throw new IllegalStateException("the connection is in the middle of a call: a listener or a codec that it "
                    + "calls cannot use it, but another connection");
        }
        if (!lock.tryLock()) {
            // A thread that was interrupted before must still be able to roll back, so only a wait is interruptible.
            await();
        }
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

    private void await() {
        try {
            lock.lockInterruptibly();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CanceledException("the thread was interrupted while it waited for its turn on the connection", e);
        }
    }

    /** As {@link #run}, and tells the listener. */
    <T> T observed(String sql, ToLongFunction<T> rows, Supplier<T> work) {
        QueryListener hears = listener;
        if (hears == null) {
            return run(work);
        }
        long begin = System.nanoTime();
        T result;
        try {
            result = run(work);
        } catch (RuntimeException e) {
            tell(hears, sql, begin, 0, e);
            throw e;
        }
        tell(hears, sql, begin, rows.applyAsLong(result), null);
        return result;
    }

    /**
     * Runs {@code work}, which opens a stream or a COPY. The connection is occupied until {@code work}'s {@link AtEnd} is
     * called, which also tells the listener. If {@code work} throws, nothing was opened.
     */
    <T> T occupy(String what, String sql, Function<AtEnd, T> work) {
        long begin = System.nanoTime();
        try {
            return run(() -> {
                T begun = work.apply((rows, error) -> {
                    occupiedBy = null;
                    tell(listener, sql, begin, rows, error);
                });
                occupiedBy = what;
                return begun;
            });
        } catch (RuntimeException e) {
            tell(listener, sql, begin, 0, e);
            throw e;
        }
    }

    private static void tell(QueryListener hears, String sql, long begin, long rows, RuntimeException error) {
        if (hears != null) {
            long nanoseconds = System.nanoTime() - begin;
            Listeners.call(() -> hears.finished(sql, nanoseconds, rows, error));
        }
    }
}
