package io.github.trunkline.type;

/**
 * A value of a range type.
 *
 * @param lower where it begins; null has no beginning
 * @param upper where it ends; null has no end
 * @param lowerIncluded true if {@code lower} is part of it
 * @param upperIncluded true if {@code upper} is part of it
 * @param isEmpty true for the range that holds nothing
 */
public record Range(Object lower, Object upper, boolean lowerIncluded, boolean upperIncluded, boolean isEmpty) {
    /** The range that holds nothing. */
    public static final Range EMPTY = new Range(null, null, false, false, true);

    /** From {@code lower}, included, to {@code upper}, not included: PostgreSQL's usual form. */
    public static Range of(Object lower, Object upper) {
        return new Range(lower, upper, lower != null, false, false);
    }

    /** As PostgreSQL writes it, such as {@code [1,5)}. */
    @Override
    public String toString() {
        return isEmpty ? "empty" : (lowerIncluded ? "[" : "(") + quote(lower) + "," + quote(upper)
                + (upperIncluded ? "]" : ")");
    }

    private static String quote(Object bound) {
        return bound == null ? "" : '"' + bound.toString().replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }
}
