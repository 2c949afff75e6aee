package io.github.trunkline.row;

/**
 * A result whose values were decoded while the rows arrived.
 *
 * @param columns the columns; none if the statement returns no rows
 * @param rows an array for each row, with a value for each column; null is NULL
 * @param tag the command tag, such as {@code SELECT 3}
 */
public record Values(Columns columns, Object[][] rows, String tag) {
    /** How many rows were returned or changed: the number at the end of the tag, or 0. */
    public long affected() {
        return CommandTag.affected(tag);
    }
}
