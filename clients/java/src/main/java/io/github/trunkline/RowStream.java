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
 * A result's rows as they arrive, in bounded memory. The connection can do nothing else until the stream is at its end or
 * closed. Closing a stream early still reads the rest of the rows that were fetched at a time. The program may keep the rows.
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

    /** The query's timeout limits each wait for the server; the program's own work in between does not count. */
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
            // The program does not want the rest of the rows: if the connection is still open, the cause does not matter.
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
