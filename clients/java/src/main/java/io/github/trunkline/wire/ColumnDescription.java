package io.github.trunkline.wire;

/**
 * One column of a RowDescription.
 *
 * @param name its name, which other columns may have too
 * @param table the object id of the table it comes from, or 0
 * @param attribute its number in that table, or 0
 * @param typeOid its type's object id, unsigned
 * @param typeSize pg_type.typlen: negative for types of varying size
 * @param typeModifier pg_attribute.atttypmod
 * @param format 0 text, 1 binary
 */
public record ColumnDescription(
        String name, int table, int attribute, int typeOid, int typeSize, int typeModifier, int format) {}
