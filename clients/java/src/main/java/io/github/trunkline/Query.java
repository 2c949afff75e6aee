package io.github.trunkline;

import java.time.Duration;
import java.util.List;

/**
 * A statement, its parameters, and how to run it. Immutable.
 *
 * @param sql the text, with $1, $2 and so on
 * @param parameters the values; null is NULL
 * @param timeout how long it may take; null stands for the connection's limit, zero for none
 * @param fetchRows how many rows a stream asks for at a time; 0 is all
 */
public record Query(String sql, List<Object> parameters, Duration timeout, int fetchRows) {
    /** How many rows a stream asks for at a time by default. */
    public static final int FETCH_ROWS = 2_000;

    /** A query with the connection's timeout. */
    public static Query of(String sql, Object... parameters) {
        return new Query(sql, java.util.Collections.unmodifiableList(java.util.Arrays.asList(parameters.clone())), null,
                FETCH_ROWS);
    }

    /** The same with a time limit. */
    public Query timeout(Duration limit) {
        return new Query(sql, parameters, limit, fetchRows);
    }

    /** The same with another number of rows that a stream asks for at a time; 0 is all. */
    public Query fetchRows(int rows) {
        if (rows < 0) {
            throw new IllegalArgumentException("fetchRows is " + rows + "; the least is 0, which is all at once");
        }
        return new Query(sql, parameters, timeout, rows);
    }
}
