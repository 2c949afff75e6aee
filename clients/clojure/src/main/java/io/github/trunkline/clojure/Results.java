package io.github.trunkline.clojure;

import clojure.lang.IFn;
import clojure.lang.IPersistentVector;
import clojure.lang.LazilyPersistentVector;
import clojure.lang.RT;
import io.github.trunkline.RowStream;
import io.github.trunkline.row.Row;
import io.github.trunkline.row.Rows;
import java.util.Iterator;

/** Makes Clojure values of whole results, without the reflection and boxes that it would cost in Clojure. */
public final class Results {
    private Results() {}

    /** A vector of rows as maps. */
    public static IPersistentVector maps(Rows rows, Keys keys) {
        return RowVector.of(rows, keys);
    }

    /** A row's values as a vector, in the same array. */
    static IPersistentVector vector(Object[] values) {
        for (int i = 0; i < values.length; i++) {
            values[i] = Values.read(values[i]);
        }
        return LazilyPersistentVector.createOwning(values);
    }

    /** A vector of rows as vectors. */
    public static IPersistentVector vectors(Rows rows) {
        var vectors = new Object[rows.size()];
        int[] index = {0};
        rows.forEach(row -> vectors[index[0]++] = vector(row.values()));
        return LazilyPersistentVector.createOwning(vectors);
    }

    /** The same for values that were decoded while the rows arrived. Their arrays become the vectors. */
    public static IPersistentVector vectors(io.github.trunkline.row.Values values) {
        var vectors = new Object[values.rows().length];
        for (int i = 0; i < vectors.length; i++) {
            vectors[i] = vector(values.rows()[i]);
        }
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

    /** Reduces rows as they arrive; a {@code reduced} value ends the stream. */
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

    /** Converts a parameter for the Java client's codecs, except those of json: for {@code Types.adapt}. */
    public static Object parameter(Object value) {
        return Values.writeAll(value);
    }

    /** Converts parameters for the Java client. */
    public static Object[] parameters(Object sequence) {
        Object[] values = RT.toArray(sequence);
        for (int i = 0; i < values.length; i++) {
            values[i] = Values.write(values[i]);
        }
        return values;
    }
}
