package io.github.trunkline.row;

import java.util.AbstractList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.RandomAccess;
import java.util.function.Consumer;

/**
 * A result: an unmodifiable list of rows. It keeps the received bytes, and four bytes more for each row. It makes a
 * {@link Row} object when the program asks for the row.
 */
public final class Rows extends AbstractList<Row> implements RandomAccess {
    private final Columns columns;
    private final byte[][] slabs;
    /** For each slab, how many rows lie in it and in the slabs before it. */
    private final int[] counts;
    private final int[] offsets;
    private final int size;
    private final String tag;

    Rows(Columns columns, byte[][] slabs, int[] counts, int[] offsets, int size, String tag) {
        this.columns = columns;
        this.slabs = slabs;
        this.counts = counts;
        this.offsets = offsets;
        this.size = size;
        this.tag = tag;
    }

    /** The same rows with other decoders. */
    public Rows read(Columns by) {
        return new Rows(by, slabs, counts, offsets, size, tag);
    }

    /** The columns; none if the statement returns no rows. */
    public Columns columns() {
        return columns;
    }

    /** The command tag, such as {@code INSERT 0 3}; empty for an empty statement. */
    public String tag() {
        return tag;
    }

    /** How many rows were changed, or returned by a SELECT: the number at the end of the tag, or 0. */
    public long affected() {
        return CommandTag.affected(tag);
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public Row get(int index) {
        if (index < 0 || index >= size) {
            throw new IndexOutOfBoundsException("row " + index + " of " + size);
        }
        int slab = 0;
        if (slabs.length > 1) {
            // The first slab whose count is more than the index.
            int found = Arrays.binarySearch(counts, index + 1);
            slab = found >= 0 ? found : -found - 1;
        }
        return new Row(columns, slabs[slab], offsets[index]);
    }

    /** The only row. */
    public Row one() {
        if (size != 1) {
            throw new NoSuchElementException("the result has " + size + " rows, not one");
        }
        return get(0);
    }

    /** All values, decoded in one pass. */
    public Object[][] values() {
        var all = new Object[size][];
        int[] index = {0};
        forEach(row -> all[index[0]++] = row.values());
        return all;
    }

    @Override
    public void forEach(Consumer<? super Row> action) {
        int row = 0;
        for (int slab = 0; slab < slabs.length; slab++) {
            byte[] bytes = slabs[slab];
            for (; row < counts[slab]; row++) {
                action.accept(new Row(columns, bytes, offsets[row]));
            }
        }
    }

    @Override
    public Iterator<Row> iterator() {
        return new Iterator<>() {
            private int next;
            private int slab;

            @Override
            public boolean hasNext() {
                return next < size;
            }

            @Override
            public Row next() {
                if (next >= size) {
                    throw new NoSuchElementException();
                }
                while (next >= counts[slab]) {
                    slab++;
                }
                return new Row(columns, slabs[slab], offsets[next++]);
            }
        };
    }

    /** How many bytes the result keeps alive. */
    public long sizeInBytes() {
        long bytes = 4L * offsets.length;
        for (byte[] slab : slabs) {
            bytes += slab.length;
        }
        return bytes;
    }
}
