package io.github.trunkline.row;

import io.github.trunkline.wire.Frame;
import java.util.Arrays;
import java.util.function.IntConsumer;

/** Gathers a result's rows: the slabs, and where in them each row begins. */
public class RowCollector {
    private final Columns columns;
    private byte[][] slabs = new byte[1][];
    private int[] counts = new int[1];
    private int slabCount;
    private int[] offsets = new int[16];
    private int size;
    private int firstOfSlab;

    /** @param columns the result's columns */
    public RowCollector(Columns columns) {
        this.columns = columns;
    }

    /** The result's columns. */
    public final Columns columns() {
        return columns;
    }

    /** Adds a row of the slab that the next {@link #slabDone} will name. {@code offset} is behind the row's header. */
    public final void add(int offset) {
        if (size == offsets.length) {
            offsets = Arrays.copyOf(offsets, size + (size >> 1));
        }
        offsets[size++] = offset;
    }

    /**
     * Decodes the rows that were added since the last slab, if this collector keeps values instead of bytes. The buffer is
     * free afterwards.
     *
     * @return false if this collector keeps the rows' bytes
     */
    public boolean consume(byte[] buffer) {
        return false;
    }

    /** Calls {@code action} with the beginning of each row that was added since the last slab, and forgets these rows. */
    final void drain(IntConsumer action) {
        for (int i = firstOfSlab; i < size; i++) {
            action.accept(offsets[i]);
        }
        size = firstOfSlab;
    }

    /** True if rows were added since the last slab. */
    public final boolean hasOpenRows() {
        return size > firstOfSlab;
    }

    /** Makes {@code slab} the slab of the rows that were added since the last one. It belongs to the result from now on. */
    public final void slabDone(byte[] slab) {
        if (size == firstOfSlab) {
            return;
        }
        if (slabCount == slabs.length) {
            slabs = Arrays.copyOf(slabs, slabCount * 2);
            counts = Arrays.copyOf(counts, slabCount * 2);
        }
        slabs[slabCount] = slab;
        counts[slabCount++] = size;
        firstOfSlab = size;
    }

    /** Copies the rows that were added since the last slab from {@code buffer} into a slab of their own. */
    public final void copyOut(byte[] buffer, int end) {
        if (size == firstOfSlab) {
            return;
        }
        // With the header of the first row: each row finds its end by the length in its header.
        int begin = offsets[firstOfSlab] - Frame.HEADER_BYTES;
        byte[] slab = Arrays.copyOfRange(buffer, begin, end);
        for (int i = firstOfSlab; i < size; i++) {
            offsets[i] -= begin;
        }
        slabDone(slab);
    }

    /** Where the first row since the last slab begins. */
    public final int firstOpenOffset() {
        return offsets[firstOfSlab];
    }

    /** The result. */
    public final Rows finish(String tag) {
        return new Rows(columns, Arrays.copyOf(slabs, slabCount), Arrays.copyOf(counts, slabCount),
                size == offsets.length ? offsets : Arrays.copyOf(offsets, size), size, tag);
    }
}
