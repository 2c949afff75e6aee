package io.github.trunkline;

/** Hears of every query of a connection: for metrics and traces. Called on the query's thread, after it. */
@FunctionalInterface
public interface QueryListener {
    /**
     * A query is over.
     *
     * @param sql its text; of a pipeline the first one's
     * @param nanoseconds how long it took, until its last byte was read
     * @param rows how many rows came, or were changed
     * @param error what went wrong, or null
     */
    void finished(String sql, long nanoseconds, long rows, RuntimeException error);
}
