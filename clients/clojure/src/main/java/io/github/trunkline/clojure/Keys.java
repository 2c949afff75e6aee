package io.github.trunkline.clojure;

import clojure.lang.IFn;
import clojure.lang.IPersistentVector;
import clojure.lang.Keyword;
import clojure.lang.LazilyPersistentVector;
import clojure.lang.RT;
import io.github.trunkline.row.Columns;
import java.util.HashMap;
import java.util.Map;

/**
 * The keys of a result's columns in the rows' maps. If several columns have the same key, the last one counts, as in
 * next.jdbc; the others are not part of the maps.
 */
public final class Keys {
    /** Up to so many keys, a linear search is faster than a hash table. */
    private static final int SCANNED_MAX = 16;

    final Columns columns;
    /** The keys by column; null for a column whose key a later column has, too. */
    final Object[] byColumn;
    private final Map<Object, Integer> indexes = new HashMap<>();

    /** True if a key's namespace does not matter. */
    private final boolean unqualified;

    private Keys(Columns columns, Object[] byColumn, boolean unqualified) {
        this.unqualified = unqualified;
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
     * The keys that {@code make} returns for {@code columns}, one for each column. They are made once for each prepared
     * statement and {@code kind}. Without a kind (null) they are made anew each time.
     */
    public static Keys of(Columns columns, Object kind, IFn make) {
        return kind == null ? made(columns, make) : columns.attachment(kind, all -> made(all, make));
    }

    private static Keys made(Columns columns, IFn make) {
        return new Keys(columns, RT.toArray(make.invoke(columns)), false);
    }

    /** The columns' names as keywords. */
    public static Keys keywords(Columns columns) {
        return columns.attachment(Keys.class, all -> {
            return new Keys(all, names(all), false);
        });
    }

    private static Object[] names(Columns columns) {
        var keys = new Object[columns.size()];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = Keyword.intern(null, columns.name(i));
        }
        return keys;
    }

    /**
     * The same, but if a key with a namespace is not in the map, it is looked up without the namespace: {@code :users/id} finds
     * {@code :id}, as in next.jdbc's plan.
     */
    public static Keys unqualified(Columns columns) {
        return columns.attachment("unqualified", all -> new Keys(all, names(all), true));
    }

    /** The column of a key; -1 if there is none. */
    int column(Object key) {
        if (key instanceof Keyword && byColumn.length <= SCANNED_MAX) {
            // Keywords are interned, so that identity is equality.
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

    /** The column of a key without its namespace; -1 if there is none, or if namespaces matter. */
    int columnOfName(Object key) {
        return unqualified && key instanceof Keyword keyword && keyword.getNamespace() != null
                ? column(Keyword.intern(null, keyword.getName())) : -1;
    }

    /** The key of each column; nil for a column whose key a later column has, too. */
    public IPersistentVector all() {
        return LazilyPersistentVector.createOwning(byColumn.clone());
    }

    /** How many different keys there are. */
    int count() {
        return indexes.size();
    }
}
