package io.github.trunkline;

/**
 * Hears of every query, stream and COPY of a connection: for metrics and traces. Called on the query's thread, after it. What
 * it throws goes to the thread's handler of uncaught exceptions, and changes nothing for the query.
 */
@FunctionalInterface
public interface QueryListener {
    /**
     * A query is over.
     *
     * @param sql its text; of a pipeline the first one's
     * @param nanoseconds how long it took, until its last byte was read; of a stream or a COPY until it was closed, with what
     *     the program did in between
     * @param rows how many rows came, or were changed; of a stream how many were taken from it
     * @param error what went wrong, or null
     */
    void finished(String sql, long nanoseconds, long rows, RuntimeException error);
}
