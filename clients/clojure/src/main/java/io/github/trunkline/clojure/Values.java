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
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Converts values between the Java client and Clojure. */
final class Values {
    private Values() {}

    /** Lists become vectors, maps become maps, composites become maps with keywords (or vectors, if they have no names). */
    static Object read(Object value) {
        // Most values have one of these classes. For other classes the checks below for interfaces are slower.
        if (value == null || value instanceof String || value instanceof Number || value instanceof Boolean
                || value instanceof Instant || value instanceof LocalDate || value instanceof LocalDateTime
                || value instanceof UUID) {
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
     * Converts a parameter of any type except json, at any depth. The keys of maps, for composites and hstore, become names, and
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

    /** Converts a parameter: keywords and symbols become their names, Clojure's own numbers become Java's. */
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
