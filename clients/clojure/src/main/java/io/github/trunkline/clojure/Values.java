package io.github.trunkline.clojure;

import clojure.lang.BigInt;
import clojure.lang.IPersistentMap;
import clojure.lang.Keyword;
import clojure.lang.LazilyPersistentVector;
import clojure.lang.Named;
import clojure.lang.PersistentArrayMap;
import clojure.lang.PersistentHashMap;
import clojure.lang.Ratio;
import io.github.trunkline.type.Composite;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Between the Java client's values and Clojure's. */
final class Values {
    private Values() {}

    /** Lists become vectors, maps become maps, composites become maps with keywords (or vectors, if they have no names). */
    static Object read(Object value) {
        // Most values, told by their class: whether something is a List is dearer to ask when it is none.
        if (value == null || value instanceof String || value instanceof Number || value instanceof Boolean
                || value instanceof Instant) {
            return value;
        }
        if (value instanceof List<?> list) {
            var items = list.toArray();
            for (int i = 0; i < items.length; i++) {
                items[i] = read(items[i]);
            }
            return LazilyPersistentVector.createOwning(items);
        }
        if (value instanceof Map<?, ?> map && !(value instanceof IPersistentMap)) {
            return PersistentHashMap.create(map);
        }
        if (value instanceof Composite composite) {
            if (composite.names().isEmpty()) {
                return read(composite.values());
            }
            var entries = new Object[composite.names().size() * 2];
            for (int i = 0; i < composite.names().size(); i++) {
                entries[2 * i] = Keyword.intern(null, composite.names().get(i));
                entries[2 * i + 1] = read(composite.values().get(i));
            }
            return entries.length <= 16 ? new PersistentArrayMap(entries) : PersistentHashMap.create(entries);
        }
        return value;
    }

    /**
     * A parameter of any type but json, with all that is in it: maps, for composites and hstore, get names as keys, and
     * sequences become Lists.
     */
    static Object writeAll(Object value) {
        if (value instanceof Map<?, ?> map) {
            var named = new LinkedHashMap<Object, Object>();
            map.forEach((key, item) -> named.put(write(key), writeAll(item)));
            return named;
        }
        if (value instanceof Collection<?> items) {
            var list = new ArrayList<Object>(items.size());
            items.forEach(item -> list.add(writeAll(item)));
            return list;
        }
        return write(value);
    }

    /** A parameter: keywords and symbols become their names, Clojure's own numbers become Java's. */
    static Object write(Object value) {
        if (value instanceof Named named) {
            return named.getNamespace() == null ? named.getName() : named.getNamespace() + "/" + named.getName();
        }
        if (value instanceof BigInt integer) {
            return integer.toBigInteger();
        }
        if (value instanceof Ratio ratio) {
            return ratio.decimalValue(java.math.MathContext.DECIMAL128);
        }
        return value;
    }
}
