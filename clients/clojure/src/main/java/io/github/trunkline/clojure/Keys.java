package io.github.trunkline.clojure;

import clojure.lang.IFn;
import clojure.lang.Keyword;
import clojure.lang.RT;
import io.github.trunkline.row.Columns;
import java.util.HashMap;
import java.util.Map;

/**
 * The keys that a result's columns have in its rows' maps. Of columns with one key the last counts, as with next.jdbc;
 * the others are in no map.
 */
public final class Keys {
    /** So many keys are looked through in less time than a hash table takes. */
    private static final int SCANNED_MAX = 16;

    final Columns columns;
    /** By column; null for a column that a later one covers. */
    final Object[] byColumn;
    private final Map<Object, Integer> indexes = new HashMap<>();

    private Keys(Columns columns, Object[] byColumn) {
        this.columns = columns;
        this.byColumn = byColumn;
        for (int i = 0; i < byColumn.length; i++) {
            Integer before = indexes.put(byColumn[i], i);
            if (before != null) {
                byColumn[before] = null;
            }
        }
    }

    /**
     * Keys that {@code make} makes, one for each column, of {@code columns}. They are made once for each prepared
     * statement and {@code kind}; null is no kind, and makes them anew each time.
     */
    public static Keys of(Columns columns, Object kind, IFn make) {
        return kind == null ? made(columns, make) : columns.attachment(kind, all -> made(all, make));
    }

    private static Keys made(Columns columns, IFn make) {
        return new Keys(columns, RT.toArray(make.invoke(columns)));
    }

    /** The columns' names as keywords. */
    public static Keys keywords(Columns columns) {
        return columns.attachment(Keys.class, all -> {
            var keys = new Object[all.size()];
            for (int i = 0; i < keys.length; i++) {
                keys[i] = Keyword.intern(null, all.name(i));
            }
            return new Keys(all, keys);
        });
    }

    /** The column of a key; -1 if there is none. */
    int column(Object key) {
        if (key instanceof Keyword && byColumn.length <= SCANNED_MAX) {
            // There is one object for each keyword, so that nothing else is equal to it.
            for (int i = 0; i < byColumn.length; i++) {
                if (byColumn[i] == key) {
                    return i;
                }
            }
            return -1;
        }
        Integer column = indexes.get(key);
        return column == null ? -1 : column;
    }

    /** How many different keys there are. */
    int count() {
        return indexes.size();
    }
}
