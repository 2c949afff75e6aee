package io.github.trunkline.row;

import io.github.trunkline.type.Decoder;
import io.github.trunkline.wire.ColumnDescription;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/** The columns of a result: names, types, and the decoder of each, chosen once and shared by all its rows. */
public final class Columns {
    private final List<ColumnDescription> descriptions;
    final Decoder[] decoders;
    private final Map<String, Integer> indexes;
    private final Map<Object, Object> attachments = new ConcurrentHashMap<>(2);

    /**
     * @param descriptions the server's descriptions
     * @param decoders a decoder for each column, for the format that it comes in
     */
    public Columns(List<ColumnDescription> descriptions, Decoder[] decoders) {
        this.descriptions = List.copyOf(descriptions);
        this.decoders = decoders.clone();
        this.indexes = new HashMap<>();
        for (int i = 0; i < decoders.length; i++) {
            indexes.putIfAbsent(descriptions.get(i).name(), i);
        }
    }

    /** How many there are. */
    public int size() {
        return decoders.length;
    }

    /** The name of column {@code index}, counted from 0. */
    public String name(int index) {
        return descriptions.get(index).name();
    }

    /** The server's description of column {@code index}. */
    public ColumnDescription description(int index) {
        return descriptions.get(index);
    }

    /** The first column called {@code name}; -1 if there is none. */
    public int find(String name) {
        Integer index = indexes.get(name);
        return index == null ? -1 : index;
    }

    /** The first column called {@code name}. */
    public int indexOf(String name) {
        int index = find(name);
        if (index < 0) {
            throw new IllegalArgumentException("there is no column called " + name + "; there are "
                    + descriptions.stream().map(ColumnDescription::name).toList());
        }
        return index;
    }

    /**
     * An object that an adapter keeps with the columns under a key of its own, such as its own kind of names. It is made at
     * first use; {@code make} may query the server.
     */
    @SuppressWarnings("unchecked")
    public <T> T attachment(Object key, Function<Columns, T> make) {
        Object present = attachments.get(key);
        if (present == null) {
            // Not computeIfAbsent, which would hold a lock while make waits for the server.
            present = make.apply(this);
            Object before = attachments.putIfAbsent(key, present);
            present = before == null ? present : before;
        }
        return (T) present;
    }

    @Override
    public String toString() {
        return descriptions.toString();
    }
}
