package io.github.trunkline.clojure;

import clojure.lang.IFn;
import clojure.lang.IPersistentVector;
import clojure.lang.LazilyPersistentVector;
import clojure.lang.RT;
import io.github.trunkline.RowStream;
import io.github.trunkline.row.Row;
import io.github.trunkline.row.Rows;
import java.util.Iterator;

/** What the Clojure namespaces would do slower with reflection and boxes: whole results. */
public final class Results {
    private Results() {}

    /** A vector of rows as maps. */
    public static IPersistentVector maps(Rows rows, Keys keys) {
        var maps = new Object[rows.size()];
        int[] index = {0};
        rows.forEach(row -> maps[index[0]++] = RowMap.of(keys, row));
        return LazilyPersistentVector.createOwning(maps);
    }

    /** A vector of rows as vectors. */
    public static IPersistentVector vectors(Rows rows) {
        var vectors = new Object[rows.size()];
        int[] index = {0};
        rows.forEach(row -> vectors[index[0]++] = RowMap.vector(row));
        return LazilyPersistentVector.createOwning(vectors);
    }

    /** A map from key to a vector of that column's values. */
    public static Object columns(Rows rows, Keys keys) {
        int width = keys.byColumn.length;
        var columns = new Object[width][rows.size()];
        var row = new Object[width];
        int number = 0;
        for (Row next : rows) {
            next.values(row);
            for (int i = 0; i < width; i++) {
                columns[i][number] = Values.read(row[i]);
            }
            number++;
        }
        Object map = clojure.lang.PersistentArrayMap.EMPTY;
        for (int i = 0; i < width; i++) {
            if (keys.byColumn[i] != null) {
                map = RT.assoc(map, keys.byColumn[i], LazilyPersistentVector.createOwning(columns[i]));
            }
        }
        return map;
    }

    /** Reduces rows as they come; a {@code reduced} value ends the stream. */
    public static Object reduce(RowStream rows, IFn asValue, IFn step, Object initial) {
        Object result = initial;
        Iterator<Row> each = rows;
        while (each.hasNext()) {
            result = step.invoke(result, asValue.invoke(each.next()));
            if (RT.isReduced(result)) {
                return ((clojure.lang.IDeref) result).deref();
            }
        }
        return result;
    }

    /** One parameter as the Java client's codecs take it, but those of json: for {@code Types.adapt}. */
    public static Object parameter(Object value) {
        return Values.writeAll(value);
    }

    /** Parameters as the Java client takes them. */
    public static Object[] parameters(Object sequence) {
        Object[] values = RT.toArray(sequence);
        for (int i = 0; i < values.length; i++) {
            values[i] = Values.write(values[i]);
        }
        return values;
    }
}
