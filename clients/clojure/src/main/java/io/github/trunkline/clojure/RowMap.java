package io.github.trunkline.clojure;

import clojure.lang.APersistentMap;
import clojure.lang.ASeq;
import clojure.lang.Counted;
import clojure.lang.IEditableCollection;
import clojure.lang.IFn;
import clojure.lang.IKVReduce;
import clojure.lang.IKeywordLookup;
import clojure.lang.ILookupThunk;
import clojure.lang.IMapEntry;
import clojure.lang.IObj;
import clojure.lang.IPersistentCollection;
import clojure.lang.IPersistentMap;
import clojure.lang.IPersistentVector;
import clojure.lang.ISeq;
import clojure.lang.ITransientCollection;
import clojure.lang.ITransientMap;
import clojure.lang.Keyword;
import clojure.lang.MapEntry;
import clojure.lang.PersistentArrayMap;
import clojure.lang.PersistentHashMap;
import clojure.lang.RT;
import clojure.lang.Util;
import io.github.trunkline.row.Row;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Iterator;

/**
 * A row as an ordinary Clojure map: equal to any other map with the same entries, with the same hash. It decodes a value when
 * the program first asks for it, and keeps it. {@code assoc} and {@code dissoc} do not decode the other values. Any number of
 * threads may read a row at once: values are published with release and acquire, and at worst two threads decode one twice.
 *
 * <p>A map takes 40 bytes until the first value is decoded. It holds the fields of a {@link Row} instead of a Row object.
 */
public final class RowMap extends APersistentMap implements IObj, IKVReduce, IKeywordLookup, IEditableCollection, Counted {
    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(Object[].class);
    private static final VarHandle VALUES;
    /** Stands for a decoded nil, since null stands for a value that is not decoded yet. */
    private static final Object NIL = new Object();
    /** Stands for a column that was dissociated. */
    private static final Object GONE = new Object();

    /** A decoded map with up to this many entries is an array map, which is built without hashing the keys. */
    private static final int ARRAY_MAP_ENTRIES_MAX = 16;

    static {
        try {
            VALUES = MethodHandles.lookup().findVarHandle(RowMap.class, "values", Object[].class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Entries that belong to no column, and metadata. Most rows have neither. */
    private record Added(IPersistentMap entries, IPersistentMap meta) {
        static final Added NOTHING = new Added(PersistentArrayMap.EMPTY, null);
    }

    private final Keys keys;
    private final byte[] slab;
    private final int start;
    private final Added added;
    /** The decoded values by column; null until the first one is decoded. */
    private Object[] values;

    private RowMap(Keys keys, byte[] slab, int start, Object[] values, Added added) {
        this.keys = keys;
        this.slab = slab;
        this.start = start;
        this.values = values;
        this.added = added;
    }

    private RowMap(RowMap of, Object[] values, Added added) {
        this(of.keys, of.slab, of.start, values, added);
    }

    /** A row's map with these keys. */
    public static RowMap of(Keys keys, Row row) {
        return of(keys, row.slab(), row.start());
    }

    static RowMap of(Keys keys, byte[] slab, int start) {
        return new RowMap(keys, slab, start, null, Added.NOTHING);
    }

    /** The row as the Java client's Row, without what was associated. */
    public Row row() {
        return new Row(keys.columns, slab, start);
    }

    /** The same map with its bytes in an array of its own, so that it does not keep its neighbours' bytes alive. */
    public RowMap detach() {
        Row detached = row().detach();
        return new RowMap(keys, detached.slab(), detached.start(), copyOfValues(), added);
    }

    private Object[] present() {
        return (Object[]) VALUES.getAcquire(this);
    }

    private Object[] copyOfValues() {
        Object[] present = present();
        if (present == null) {
            return null;
        }
        var copy = new Object[present.length];
        for (int i = 0; i < copy.length; i++) {
            copy[i] = ELEMENT.getAcquire(present, i);
        }
        return copy;
    }

    /** The array for decoded values. If two threads create it at once, both get the first one. */
    private Object[] room() {
        Object[] present = present();
        if (present != null) {
            return present;
        }
        var fresh = new Object[keys.byColumn.length];
        Object before = VALUES.compareAndExchange(this, null, fresh);
        return before == null ? fresh : (Object[]) before;
    }

    private Object decoded(int column) {
        Object[] present = present();
        return present == null ? null : ELEMENT.getAcquire(present, column);
    }

    private boolean has(int column) {
        return column >= 0 && decoded(column) != GONE;
    }

    private Object value(int column) {
        Object value = decoded(column);
        if (value == null) {
            value = Values.read(row().get(column));
            ELEMENT.setRelease(room(), column, value == null ? NIL : value);
            return value;
        }
        return value == NIL ? null : value;
    }

    private RowMap with(int column, Object value) {
        Object[] copy = copyOfValues();
        if (copy == null) {
            copy = new Object[keys.byColumn.length];
        }
        copy[column] = value;
        return new RowMap(this, copy, added);
    }

    private RowMap with(IPersistentMap entries) {
        return new RowMap(this, copyOfValues(), new Added(entries, added.meta));
    }

    @Override
    public Object valAt(Object key) {
        return valAt(key, null);
    }

    @Override
    public Object valAt(Object key, Object notFound) {
        int column = keys.column(key);
        if (has(column)) {
            return value(column);
        }
        column = keys.columnOfName(key);
        return has(column) && !added.entries.containsKey(key) ? value(column) : added.entries.valAt(key, notFound);
    }

    @Override
    public boolean containsKey(Object key) {
        return has(keys.column(key)) || added.entries.containsKey(key);
    }

    @Override
    public IMapEntry entryAt(Object key) {
        int column = keys.column(key);
        return has(column) ? MapEntry.create(keys.byColumn[column], value(column)) : added.entries.entryAt(key);
    }

    @Override
    public IPersistentMap assoc(Object key, Object value) {
        int column = keys.column(key);
        return column >= 0 ? with(column, value == null ? NIL : value)
                : with(added.entries.assoc(key, value));
    }

    @Override
    public IPersistentMap assocEx(Object key, Object value) {
        if (containsKey(key)) {
            throw Util.runtimeException("Key already present");
        }
        return assoc(key, value);
    }

    @Override
    public IPersistentMap without(Object key) {
        int column = keys.column(key);
        if (column >= 0) {
            return has(column) ? with(column, GONE) : this;
        }
        return added.entries.containsKey(key) ? with(added.entries.without(key)) : this;
    }

    @Override
    public int count() {
        int count = added.entries.count();
        for (int i = 0; i < keys.byColumn.length; i++) {
            count += keys.byColumn[i] != null && has(i) ? 1 : 0;
        }
        return count;
    }

    @Override
    public IPersistentCollection empty() {
        return PersistentArrayMap.EMPTY.withMeta(added.meta);
    }

    /** The next column after {@code column} that is part of the map; the number of columns if there is none. */
    private int next(int column) {
        int next = column + 1;
        while (next < keys.byColumn.length && (keys.byColumn[next] == null || !has(next))) {
            next++;
        }
        return next;
    }

    @Override
    public ISeq seq() {
        int first = next(-1);
        return first < keys.byColumn.length ? new Entries(this, first, null) : added.entries.seq();
    }

    /** The entries; each value is decoded when the program asks for its entry. */
    private static final class Entries extends ASeq {
        private final RowMap map;
        private final int column;

        Entries(RowMap map, int column, IPersistentMap meta) {
            super(meta);
            this.map = map;
            this.column = column;
        }

        @Override
        public Object first() {
            return MapEntry.create(map.keys.byColumn[column], map.value(column));
        }

        @Override
        public ISeq next() {
            int next = map.next(column);
            return next < map.keys.byColumn.length ? new Entries(map, next, null) : map.added.entries.seq();
        }

        @Override
        public ASeq withMeta(IPersistentMap meta) {
            return new Entries(map, column, meta);
        }
    }

    /** Decodes all values in one pass. Single lookups would each walk to their column from the beginning of the row. */
    private void decodeAll() {
        if (present() != null) {
            return;
        }
        Object[] all = row().values();
        for (int i = 0; i < all.length; i++) {
            Object value = Values.read(all[i]);
            all[i] = value == null ? NIL : value;
        }
        VALUES.compareAndExchange(this, null, all);
    }

    @Override
    public Iterator iterator() {
        decodeAll();
        return new Iterator() {
            private int column = RowMap.this.next(-1);
            private ISeq rest = added.entries.seq();

            @Override
            public boolean hasNext() {
                return column < keys.byColumn.length || rest != null;
            }

            @Override
            public Object next() {
                if (column < keys.byColumn.length) {
                    int present = column;
                    column = RowMap.this.next(present);
                    return MapEntry.create(keys.byColumn[present], value(present));
                }
                if (rest == null) {
                    throw new java.util.NoSuchElementException();
                }
                Object first = rest.first();
                rest = rest.next();
                return first;
            }
        };
    }

    @Override
    public Object kvreduce(IFn f, Object initial) {
        decodeAll();
        Object result = initial;
        for (int i = next(-1); i < keys.byColumn.length; i = next(i)) {
            result = f.invoke(result, keys.byColumn[i], value(i));
            if (RT.isReduced(result)) {
                return ((clojure.lang.IDeref) result).deref();
            }
        }
        for (ISeq entries = added.entries.seq(); entries != null; entries = entries.next()) {
            var entry = (java.util.Map.Entry<?, ?>) entries.first();
            result = f.invoke(result, entry.getKey(), entry.getValue());
            if (RT.isReduced(result)) {
                return ((clojure.lang.IDeref) result).deref();
            }
        }
        return result;
    }

    /** An ordinary map with all values decoded, in one pass. */
    public IPersistentMap toMap() {
        if (added.entries.count() == 0 && keys.count() == keys.byColumn.length && isUntouched()) {
            return untouched();
        }
        IPersistentMap map = PersistentArrayMap.EMPTY;
        for (ISeq entries = seq(); entries != null; entries = entries.next()) {
            var entry = (java.util.Map.Entry<?, ?>) entries.first();
            map = map.assoc(entry.getKey(), entry.getValue());
        }
        return (IPersistentMap) ((IObj) map).withMeta(added.meta);
    }

    private boolean isUntouched() {
        Object[] present = present();
        for (int i = 0; present != null && i < present.length; i++) {
            if (ELEMENT.getAcquire(present, i) != null) {
                return false;
            }
        }
        return true;
    }

    private IPersistentMap untouched() {
        Object[] decoded = row().values();
        if (decoded.length > ARRAY_MAP_ENTRIES_MAX) {
            ITransientMap map = PersistentHashMap.EMPTY.asTransient();
            for (int i = 0; i < decoded.length; i++) {
                map = map.assoc(keys.byColumn[i], Values.read(decoded[i]));
            }
            return (IPersistentMap) ((IObj) map.persistent()).withMeta(added.meta);
        }
        var entries = new Object[decoded.length * 2];
        for (int i = 0; i < decoded.length; i++) {
            entries[2 * i] = keys.byColumn[i];
            entries[2 * i + 1] = Values.read(decoded[i]);
        }
        return new PersistentArrayMap(added.meta, entries);
    }

    @Override
    public ITransientCollection asTransient() {
        return ((IEditableCollection) toMap()).asTransient();
    }

    @Override
    public ILookupThunk getLookupThunk(Keyword key) {
        int column = keys.column(key);
        return has(column) ? new Thunk(keys, column) : null;
    }

    /** A call site {@code (:key row)} keeps this: the key's column, for all rows with the same keys. */
    private static final class Thunk implements ILookupThunk {
        private final Keys keys;
        private final int column;

        Thunk(Keys keys, int column) {
            this.keys = keys;
            this.column = column;
        }

        @Override
        public Object get(Object target) {
            if (target instanceof RowMap map && map.keys == keys) {
                Object value = map.decoded(column);
                if (value != null && value != NIL && value != GONE) {
                    return value;
                }
                return value == GONE ? null : map.value(column);
            }
            // The call site then asks for another thunk.
            return this;
        }
    }

    @Override
    public IPersistentMap meta() {
        return added.meta;
    }

    @Override
    public IObj withMeta(IPersistentMap given) {
        return given == added.meta ? this
                : new RowMap(this, copyOfValues(), new Added(added.entries, given));
    }

    /** All of a row as a vector. */
    public static IPersistentVector vector(Row row) {
        return Results.vector(row.values());
    }
}
