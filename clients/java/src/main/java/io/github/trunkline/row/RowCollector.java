package io.github.trunkline.row;

import io.github.trunkline.wire.Frame;
import java.util.Arrays;

/** Gathers a result's rows: which slabs, and where in them. */
public final class RowCollector {
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
    public Columns columns() {
        return columns;
    }

    /** A row in the slab that the next {@link #slabDone} will name; its header lies before {@code offset}. */
    public void add(int offset) {
        if (size == offsets.length) {
            offsets = Arrays.copyOf(offsets, size + (size >> 1));
        }
        offsets[size++] = offset;
    }

    /** True if rows have been added that have no slab yet. */
    public boolean hasOpenRows() {
        return size > firstOfSlab;
    }

    /** The rows added since the last slab lie in {@code slab}, which is the result's from now on. */
    public void slabDone(byte[] slab) {
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

    /** The rows added since the last slab lie in {@code buffer}, which stays its owner's: they are copied out. */
    public void copyOut(byte[] buffer, int end) {
        if (size == firstOfSlab) {
            return;
        }
        // With the header before each body, whose length the rows go by.
        int begin = offsets[firstOfSlab] - Frame.HEADER_BYTES;
        byte[] slab = Arrays.copyOfRange(buffer, begin, end);
        for (int i = firstOfSlab; i < size; i++) {
            offsets[i] -= begin;
        }
        slabDone(slab);
    }

    /** Where the first row without a slab begins. */
    public int firstOpenOffset() {
        return offsets[firstOfSlab];
    }

    /** The result. */
    public Rows finish(String tag) {
        return new Rows(columns, Arrays.copyOf(slabs, slabCount), Arrays.copyOf(counts, slabCount),
                size == offsets.length ? offsets : Arrays.copyOf(offsets, size), size, tag);
    }
}
