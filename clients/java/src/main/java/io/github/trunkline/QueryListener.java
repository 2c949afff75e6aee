package io.github.trunkline;

/**
 * Is told about every query, stream and COPY of a connection, for metrics and traces. It runs on the query's thread, after the
 * query. An exception in it goes to the thread's handler of uncaught exceptions, and does not affect the query.
 */
@FunctionalInterface
public interface QueryListener {
    /**
     * A query is over.
     *
     * @param sql its text; for a pipeline, the first statement's
     * @param nanoseconds how long it took until its last byte was read; for a stream or a COPY until it was closed, including
     *     the program's own work in between
     * @param rows how many rows came or were changed; for a stream, how many the program took
     * @param error what went wrong, or null
     */
    void finished(String sql, long nanoseconds, long rows, RuntimeException error);
}
