package io.github.trunkline.clojure;

import clojure.lang.APersistentVector;
import clojure.lang.ArrayChunk;
import clojure.lang.ASeq;
import clojure.lang.Counted;
import clojure.lang.IChunk;
import clojure.lang.IChunkedSeq;
import clojure.lang.IDeref;
import clojure.lang.IEditableCollection;
import clojure.lang.IFn;
import clojure.lang.IKVReduce;
import clojure.lang.IObj;
import clojure.lang.IPersistentCollection;
import clojure.lang.IPersistentMap;
import clojure.lang.IPersistentStack;
import clojure.lang.IPersistentVector;
import clojure.lang.IReduce;
import clojure.lang.ISeq;
import clojure.lang.ITransientCollection;
import clojure.lang.LazilyPersistentVector;
import clojure.lang.PersistentList;
import clojure.lang.PersistentVector;
import clojure.lang.RT;
import io.github.trunkline.row.Rows;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A result as a vector of maps. It makes a row's map when the program first asks for it, and keeps it, so that a program that
 * looks at few rows of many pays only for these. {@code conj}, {@code assoc} and {@code pop} return an ordinary vector of the
 * same maps. Any number of threads may read a vector at once: all get the same map of a row.
 */
public final class RowVector extends APersistentVector implements IObj, IEditableCollection, IReduce, IKVReduce {
    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(Object[].class);
    private static final VarHandle MAPS;
    /** The size of a chunk of Clojure's own vectors. */
    private static final int CHUNK_ROWS = 32;

    static {
        try {
            MAPS = MethodHandles.lookup().findVarHandle(RowVector.class, "maps", Object[].class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Rows rows;
    private final Keys keys;
    private final IPersistentMap meta;
    /** The maps made so far, by row; null until the first one is made. */
    private Object[] maps;

    private RowVector(Rows rows, Keys keys, IPersistentMap meta, Object[] maps) {
        this.rows = rows;
        this.keys = keys;
        this.meta = meta;
        this.maps = maps;
    }

    static RowVector of(Rows rows, Keys keys) {
        return new RowVector(rows, keys, null, null);
    }

    private Object[] maps() {
        Object[] present = (Object[]) MAPS.getAcquire(this);
        if (present != null) {
            return present;
        }
        var fresh = new Object[rows.size()];
        Object before = MAPS.compareAndExchange(this, null, fresh);
        return before == null ? fresh : (Object[]) before;
    }

    @Override
    public int count() {
        return rows.size();
    }

    @Override
    public Object nth(int index) {
        if (index < 0 || index >= rows.size()) {
            throw new IndexOutOfBoundsException("row " + index + " of " + rows.size());
        }
        return map(maps(), index);
    }

    private Object map(Object[] made, int index) {
        Object map = ELEMENT.getAcquire(made, index);
        if (map != null) {
            return map;
        }
        Object fresh = RowMap.of(keys, rows.get(index));
        Object before = ELEMENT.compareAndExchange(made, index, (Object) null, fresh);
        return before == null ? fresh : before;
    }

    /** An ordinary vector of all maps. */
    private PersistentVector ordinary() {
        return (PersistentVector) ((IObj) LazilyPersistentVector.createOwning(toArray())).withMeta(meta);
    }

    @Override
    public Object[] toArray() {
        Object[] made = maps();
        var all = new Object[made.length];
        for (int i = 0; i < all.length; i++) {
            all[i] = map(made, i);
        }
        return all;
    }

    @Override
    public IPersistentVector assocN(int index, Object value) {
        return ordinary().assocN(index, value);
    }

    @Override
    public IPersistentVector cons(Object value) {
        return ordinary().cons(value);
    }

    @Override
    public IPersistentStack pop() {
        return ordinary().pop();
    }

    @Override
    public IPersistentCollection empty() {
        return PersistentVector.EMPTY.withMeta(meta);
    }

    @Override
    public ITransientCollection asTransient() {
        return ordinary().asTransient();
    }

    @Override
    public IPersistentMap meta() {
        return meta;
    }

    @Override
    public IObj withMeta(IPersistentMap given) {
        return given == meta ? this : new RowVector(rows, keys, given, maps());
    }

    @Override
    public Object reduce(IFn f) {
        return count() == 0 ? f.invoke() : reduce(f, nth(0), 1);
    }

    @Override
    public Object reduce(IFn f, Object initial) {
        return reduce(f, initial, 0);
    }

    private Object reduce(IFn f, Object initial, int first) {
        Object[] made = maps();
        Object result = initial;
        for (int i = first; i < made.length; i++) {
            result = f.invoke(result, map(made, i));
            if (RT.isReduced(result)) {
                return ((IDeref) result).deref();
            }
        }
        return result;
    }

    @Override
    public Object kvreduce(IFn f, Object initial) {
        Object[] made = maps();
        Object result = initial;
        for (int i = 0; i < made.length; i++) {
            result = f.invoke(result, i, map(made, i));
            if (RT.isReduced(result)) {
                return ((IDeref) result).deref();
            }
        }
        return result;
    }

    @Override
    public ISeq seq() {
        return count() == 0 ? null : new Chunks(this, 0, null);
    }

    /** The rows from {@code first} on, as a chunked sequence. */
    private static final class Chunks extends ASeq implements IChunkedSeq, Counted {
        private final RowVector vector;
        private final int first;

        Chunks(RowVector vector, int first, IPersistentMap meta) {
            super(meta);
            this.vector = vector;
            this.first = first;
        }

        private int end() {
            return Math.min(first - first % CHUNK_ROWS + CHUNK_ROWS, vector.count());
        }

        @Override
        public Object first() {
            return vector.nth(first);
        }

        @Override
        public ISeq next() {
            return first + 1 < vector.count() ? new Chunks(vector, first + 1, null) : null;
        }

        @Override
        public IChunk chunkedFirst() {
            Object[] made = vector.maps();
            var chunk = new Object[end() - first];
            for (int i = 0; i < chunk.length; i++) {
                chunk[i] = vector.map(made, first + i);
            }
            return new ArrayChunk(chunk);
        }

        @Override
        public ISeq chunkedNext() {
            return end() < vector.count() ? new Chunks(vector, end(), null) : null;
        }

        @Override
        public ISeq chunkedMore() {
            ISeq next = chunkedNext();
            return next == null ? PersistentList.EMPTY : next;
        }

        @Override
        public int count() {
            return vector.count() - first;
        }

        @Override
        public ASeq withMeta(IPersistentMap given) {
            return new Chunks(vector, first, given);
        }
    }
}
