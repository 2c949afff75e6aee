package io.github.trunkline.row;

import io.github.trunkline.PostgresException;
import java.util.Arrays;

/**
 * Decodes a result's rows in the buffer that they were read into, and keeps the values only. This costs less than to keep the
 * rows' bytes and decode them later, if the program wants all columns of all rows.
 */
public final class ValueCollector extends RowCollector {
    private Object[][] rows = new Object[16][];
    private int size;
    private Throwable failure;

    /** @param columns the result's columns */
    public ValueCollector(Columns columns) {
        super(columns);
    }

    /** After a failure it drops the rows that follow, since the answer must still be read to its end. */
    @Override
    public boolean consume(byte[] buffer) {
        drain(start -> {
            if (failure == null) {
                decode(buffer, start);
            }
        });
        return true;
    }

    private void decode(byte[] buffer, int start) {
        if (size == rows.length) {
            rows = Arrays.copyOf(rows, size * 2);
        }
        try {
            var values = new Object[columns().size()];
            Row.values(columns(), buffer, start, values);
            rows[size++] = values;
        } catch (Throwable e) {
            // Whatever a program's codec throws, even an Error, the rest of the answer must still be read.
            failure = e;
        }
    }

    /**
     * The values of all rows.
     *
     * @throws PostgresException if a value could not be decoded; an Error or checked exception of a codec is thrown as it is
     */
    public Object[][] values() {
        if (failure != null) {
            throw ValueCollector.<RuntimeException>unchecked(failure);
        }
        return Arrays.copyOf(rows, size);
    }

    /** Lets the compiler accept any exception: a codec in Clojure may throw a checked one. */
    @SuppressWarnings("unchecked")
    private static <E extends Throwable> E unchecked(Throwable failure) throws E {
        throw (E) failure;
    }
}
