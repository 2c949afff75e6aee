package io.github.trunkline;

import io.github.trunkline.row.Columns;
import io.github.trunkline.row.Row;
import io.github.trunkline.session.AtEnd;
import io.github.trunkline.session.Exchange;
import io.github.trunkline.session.RowSource;
import java.time.Duration;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * Rows as they come, in bounded memory. Its connection does nothing else until it is at its end or closed; closing it
 * early costs the rest of the rows that were asked for at a time. Rows may be kept, as any.
 */
public final class RowStream implements Iterator<Row>, AutoCloseable {
    private final Exchange exchange;
    private final Duration timeout;
    private final RowSource source;
    private final AtEnd atEnd;
    private Row next;
    private long count;
    private boolean over;

    RowStream(Exchange exchange, Duration timeout, RowSource source, AtEnd atEnd) {
        this.exchange = exchange;
        this.timeout = timeout;
        this.source = source;
        this.atEnd = atEnd;
    }

    /** The columns; null if the statement gives no rows. */
    public Columns columns() {
        return source.columns();
    }

    @Override
    public boolean hasNext() {
        if (next == null && !over) {
            advance();
        }
        return next != null;
    }

    @Override
    public Row next() {
        if (!hasNext()) {
            throw new NoSuchElementException("the stream is at its end");
        }
        Row row = next;
        next = null;
        return row;
    }

    /** Each wait for the server may take as long as the query's timeout; what the program does in between does not count. */
    private void advance() {
        try {
            next = source.hasRow() ? source.next() : exchange.timed(timeout, source::next);
        } catch (RuntimeException e) {
            end(e);
            throw e;
        }
        if (next == null) {
            end(null);
        } else {
            count++;
        }
    }

    private void end(RuntimeException error) {
        if (!over) {
            over = true;
            atEnd.over(count, error);
        }
    }

    /** As a Stream, in order, not parallel. Close it, or read it to its end. */
    public Stream<Row> stream() {
        int kind = Spliterator.ORDERED | Spliterator.NONNULL | Spliterator.IMMUTABLE;
        return StreamSupport.stream(Spliterators.spliteratorUnknownSize(this, kind), false).onClose(this::close);
    }

    @Override
    public void close() {
        next = null;
        if (over) {
            return;
        }
        RuntimeException error = null;
        try {
            exchange.timed(timeout, () -> {
                source.close();
                return null;
            });
        } catch (CanceledException e) {
            // Nobody wants the rest of the rows: if the connection still stands, it does not matter why none came.
            if (!source.isOpen()) {
                error = e;
                throw e;
            }
        } catch (RuntimeException e) {
            error = e;
            throw e;
        } finally {
            end(error);
        }
    }
}
