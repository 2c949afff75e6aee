package io.github.trunkline.row;

import io.github.trunkline.type.Decoder;
import io.github.trunkline.wire.ColumnDescription;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** The columns of a result: names, types, and the decoder of each, chosen once and shared by all its rows. */
public final class Columns {
    private final List<ColumnDescription> descriptions;
    final Decoder[] decoders;
    private final Map<String, Integer> indexes;
    private volatile Object attachment;

    /**
     * @param descriptions what the server said
     * @param decoders a decoder for each, of the format it comes in
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

    /** All the server said of it. */
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

    /** What an adapter keeps with the columns (its own kind of names, say): made at first use, maybe twice by two threads. */
    public <T> T attachment(Class<T> kind, Function<Columns, T> make) {
        Object present = attachment;
        if (!kind.isInstance(present)) {
            present = make.apply(this);
            attachment = present;
        }
        return kind.cast(present);
    }

    @Override
    public String toString() {
        return descriptions.toString();
    }
}
