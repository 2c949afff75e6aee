package io.github.trunkline.type;

import java.util.Collections;
import java.util.List;

/**
 * A value of a composite type or of {@code record}.
 *
 * @param names the fields' names; empty for {@code record}, which has none
 * @param values the fields' values, null where NULL
 */
public record Composite(List<String> names, List<Object> values) {
    /** Keeps unmodifiable views of the lists. */
    public Composite {
        names = Collections.unmodifiableList(names);
        values = Collections.unmodifiableList(values);
    }

    /** The value of the field {@code name}. */
    public Object get(String name) {
        int index = names.indexOf(name);
        if (index < 0) {
            throw new IllegalArgumentException("the composite has no field " + name + "; it has " + names);
        }
        return values.get(index);
    }
}
