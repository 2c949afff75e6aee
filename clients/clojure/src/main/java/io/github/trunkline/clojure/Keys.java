package io.github.trunkline.clojure;

import clojure.lang.Keyword;
import io.github.trunkline.row.Columns;
import java.util.HashMap;
import java.util.Map;

/**
 * The keys that a result's columns have in its rows' maps. Of columns with one key the last counts, as with next.jdbc;
 * the others are in no map.
 */
public final class Keys {
    /** By column; null for a column that a later one covers. */
    final Object[] byColumn;
    private final Map<Object, Integer> columns = new HashMap<>();

    private Keys(Object[] byColumn) {
        this.byColumn = byColumn;
        for (int i = 0; i < byColumn.length; i++) {
            Integer before = columns.put(byColumn[i], i);
            if (before != null) {
                byColumn[before] = null;
            }
        }
    }

    /** Keys that a program made, one for each column. */
    public static Keys of(Object[] keys) {
        return new Keys(keys.clone());
    }

    /** The columns' names as keywords; made once for each prepared statement. */
    public static Keys keywords(Columns columns) {
        return columns.attachment(Keys.class, all -> {
            var keys = new Object[all.size()];
            for (int i = 0; i < keys.length; i++) {
                keys[i] = Keyword.intern(null, all.name(i));
            }
            return new Keys(keys);
        });
    }

    /** The column of a key; -1 if there is none. */
    int column(Object key) {
        Integer column = columns.get(key);
        return column == null ? -1 : column;
    }

    /** How many different keys there are. */
    int count() {
        return columns.size();
    }
}
