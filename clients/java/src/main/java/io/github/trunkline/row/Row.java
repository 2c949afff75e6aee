package io.github.trunkline.row;

import io.github.trunkline.PostgresException;
import io.github.trunkline.ValueException;
import io.github.trunkline.wire.Bytes;
import io.github.trunkline.wire.DataRow;
import io.github.trunkline.wire.Frame;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.UUID;

/**
 * One row: a position in a slab of bytes that the row shares with its neighbours. Each getter decodes the value anew. A row
 * is immutable, and any number of threads may read it at once.
 *
 * <p>A row keeps its slab alive: up to 128 KiB, or the row's own size if that is more. {@link #detach} copies a row out. Use
 * it for a row that the program keeps for long while it drops most of the row's neighbours.
 *
 * <p>Columns are counted from 0. Getters of primitives refuse NULL with a {@link ValueException}; ask {@link #isNull}.
 * Every getter throws a {@link io.github.trunkline.ProtocolException} if the server sent a wrong length within the row. The
 * connection stays usable, since the end of the row is known.
 */
public final class Row {
    private final Columns columns;
    private final byte[] slab;
    private final int start;

    /**
     * @param columns its columns
     * @param slab holds the DataRow with its header; {@link DataRow#hasCount} has checked its count
     * @param start where its body begins, right behind the header
     */
    public Row(Columns columns, byte[] slab, int start) {
        this.columns = columns;
        this.slab = slab;
        this.start = start;
    }

    /** A row made from the body of a DataRow, which this checks. */
    public static Row of(Columns columns, byte[] body) {
        DataRow.check(body, 0, body.length, columns.size());
        var message = new byte[Frame.HEADER_BYTES + body.length];
        message[0] = 'D';
        Bytes.putInt32(message, 1, 4 + body.length);
        System.arraycopy(body, 0, message, Frame.HEADER_BYTES, body.length);
        return new Row(columns, message, Frame.HEADER_BYTES);
    }

    /** Its columns. */
    public Columns columns() {
        return columns;
    }

    /** The array that holds the row; do not change it. With {@link #start} and the columns it makes the same row again. */
    public byte[] slab() {
        return slab;
    }

    /** Where in the slab the row begins, behind its header. */
    public int start() {
        return start;
    }

    /** How many columns it has. */
    public int size() {
        return columns.decoders.length;
    }

    private int seek(int column) {
        if (column < 0 || column >= columns.decoders.length) {
            throw new IndexOutOfBoundsException("column " + column + " of " + columns.decoders.length);
        }
        return DataRow.seek(slab, start, column);
    }

    /** True if the value is NULL. */
    public boolean isNull(int column) {
        return Bytes.int32(slab, seek(column)) < 0;
    }

    /** True if the value of the first column called {@code name} is NULL. */
    public boolean isNull(String name) {
        return isNull(columns.indexOf(name));
    }

    /** The value as an object of its type's class (docs/clients-java.md lists them); null if it is NULL. */
    public Object get(int column) {
        int at = seek(column);
        int length = Bytes.int32(slab, at);
        try {
            return length < 0 ? null : columns.decoders[column].decode(slab, at + 4, length);
        } catch (RuntimeException e) {
            throw unreadable(column, e);
        }
    }

    /** The value of the first column called {@code name}. */
    public Object get(String name) {
        return get(columns.indexOf(name));
    }

    /** The value as an object of {@code type}, which must be its type's class. */
    public <T> T get(int column, Class<T> type) {
        Object value = get(column);
        if (value != null && !type.isInstance(value)) {
            throw new ValueException("column " + columns.name(column) + " holds a " + value.getClass().getName()
                    + ", no " + type.getName());
        }
        return type.cast(value);
    }

    /** The value of the first column called {@code name} as an object of {@code type}, which must be its type's class. */
    public <T> T get(String name, Class<T> type) {
        return get(columns.indexOf(name), type);
    }

    /** A whole number, without a box. */
    public long getLong(int column) {
        int at = seek(column);
        int length = there(column, Bytes.int32(slab, at));
        try {
            return columns.decoders[column].decodeLong(slab, at + 4, length);
        } catch (RuntimeException e) {
            throw unreadable(column, e);
        }
    }

    /** A whole number of the first column called {@code name}. */
    public long getLong(String name) {
        return getLong(columns.indexOf(name));
    }

    /** A whole number, without a box; one that is too large for an int is refused. */
    public int getInt(int column) {
        long value = getLong(column);
        if (value != (int) value) {
            throw new ValueException("column " + columns.name(column) + " holds " + value + ", more than an int");
        }
        return (int) value;
    }

    /** A whole number of the first column called {@code name}. */
    public int getInt(String name) {
        return getInt(columns.indexOf(name));
    }

    /** A number, without a box for int2, int4, int8, float4 and float8. */
    public double getDouble(int column) {
        int at = seek(column);
        int length = there(column, Bytes.int32(slab, at));
        try {
            return columns.decoders[column].decodeDouble(slab, at + 4, length);
        } catch (RuntimeException e) {
            throw unreadable(column, e);
        }
    }

    /** A number of the first column called {@code name}. */
    public double getDouble(String name) {
        return getDouble(columns.indexOf(name));
    }

    /** A truth value, without a box. */
    public boolean getBoolean(int column) {
        int at = seek(column);
        int length = there(column, Bytes.int32(slab, at));
        try {
            return columns.decoders[column].decodeBoolean(slab, at + 4, length);
        } catch (RuntimeException e) {
            throw unreadable(column, e);
        }
    }

    /** A truth value of the first column called {@code name}. */
    public boolean getBoolean(String name) {
        return getBoolean(columns.indexOf(name));
    }

    /** A text; of other types what their object's {@code toString} says; null if it is NULL. */
    public String getString(int column) {
        int at = seek(column);
        int length = Bytes.int32(slab, at);
        try {
            return length < 0 ? null : columns.decoders[column].decodeString(slab, at + 4, length);
        } catch (RuntimeException e) {
            throw unreadable(column, e);
        }
    }

    /** A text of the first column called {@code name}. */
    public String getString(String name) {
        return getString(columns.indexOf(name));
    }

    /** A point in time: timestamptz. */
    public Instant getInstant(int column) {
        return get(column, Instant.class);
    }

    /** A point in time of the first column called {@code name}. */
    public Instant getInstant(String name) {
        return getInstant(columns.indexOf(name));
    }

    /** A point in time as UTC shows it; infinity is {@link OffsetDateTime#MAX} or MIN. */
    public OffsetDateTime getOffsetDateTime(int column) {
        Instant instant = getInstant(column);
        if (instant == null) {
            return null;
        }
        return instant.equals(Instant.MAX) ? OffsetDateTime.MAX
                : instant.equals(Instant.MIN) ? OffsetDateTime.MIN : instant.atOffset(ZoneOffset.UTC);
    }

    /** A point in time as UTC shows it of the first column called {@code name}. */
    public OffsetDateTime getOffsetDateTime(String name) {
        return getOffsetDateTime(columns.indexOf(name));
    }

    /** A date and time without a zone: timestamp. */
    public LocalDateTime getLocalDateTime(int column) {
        return get(column, LocalDateTime.class);
    }

    /** A date and time without a zone of the first column called {@code name}. */
    public LocalDateTime getLocalDateTime(String name) {
        return getLocalDateTime(columns.indexOf(name));
    }

    /** A date. */
    public LocalDate getLocalDate(int column) {
        return get(column, LocalDate.class);
    }

    /** A date of the first column called {@code name}. */
    public LocalDate getLocalDate(String name) {
        return getLocalDate(columns.indexOf(name));
    }

    /** A numeric, or a whole number. NaN and the infinities are refused: no BigDecimal can be one. */
    public BigDecimal getBigDecimal(int column) {
        Object value = get(column);
        if (value instanceof Long || value instanceof Integer || value instanceof Short) {
            return BigDecimal.valueOf(((Number) value).longValue());
        }
        return get(column, BigDecimal.class);
    }

    /** A numeric, or a whole number, of the first column called {@code name}. */
    public BigDecimal getBigDecimal(String name) {
        return getBigDecimal(columns.indexOf(name));
    }

    /** A uuid. */
    public UUID getUuid(int column) {
        return get(column, UUID.class);
    }

    /** A uuid of the first column called {@code name}. */
    public UUID getUuid(String name) {
        return getUuid(columns.indexOf(name));
    }

    /** The value's bytes as they came, in whichever format that was; null if it is NULL. */
    public byte[] getRaw(int column) {
        int at = seek(column);
        int length = Bytes.int32(slab, at);
        return length < 0 ? null : Arrays.copyOfRange(slab, at + 4, at + 4 + length);
    }

    /** All values, decoded in one pass over the row. */
    public Object[] values() {
        var values = new Object[columns.decoders.length];
        values(values);
        return values;
    }

    /** All values, decoded in one pass into the first elements of {@code into}. */
    public void values(Object[] into) {
        values(columns, slab, start, into);
    }

    /** As {@link #values(Object[])}, for a row that has no Row object. */
    static void values(Columns columns, byte[] bytes, int start, Object[] into) {
        var decoders = columns.decoders;
        int end = DataRow.end(bytes, start);
        int at = start + 2;
        int column = 0;
        try {
            for (; column < decoders.length && at <= end - 4; column++) {
                int length = Bytes.int32(bytes, at);
                at += 4;
                if (length < 0 || length > end - at) {
                    if (length != -1) {
                        break;
                    }
                    into[column] = null;
                } else {
                    into[column] = decoders[column].decode(bytes, at, length);
                    at += length;
                }
            }
        } catch (RuntimeException e) {
            throw unreadable(columns, column, e);
        }
        if (column < decoders.length || at != end) {
            throw DataRow.broken(bytes, start);
        }
    }

    /** How many bytes it has, without its header. */
    public int sizeInBytes() {
        return DataRow.end(slab, start) - start;
    }

    /** The same row in an array of its own, so that it does not keep its neighbours' bytes alive. */
    public Row detach() {
        return new Row(columns, Arrays.copyOfRange(slab, start - Frame.HEADER_BYTES, DataRow.end(slab, start)),
                Frame.HEADER_BYTES);
    }

    private int there(int column, int length) {
        if (length < 0) {
            throw new ValueException("column " + columns.name(column) + " is NULL, which no primitive can be");
        }
        return length;
    }

    private PostgresException unreadable(int column, RuntimeException cause) {
        return unreadable(columns, column, cause);
    }

    private static PostgresException unreadable(Columns columns, int column, RuntimeException cause) {
        if (column >= columns.decoders.length) {
            throw cause;
        }
        return new ValueException("column " + column + " (" + columns.name(column) + ", type "
                + Integer.toUnsignedString(columns.description(column).typeOid()) + "): " + cause.getMessage(), cause);
    }

    /** Rows are equal if their columns' names and values are. */
    @Override
    public boolean equals(Object other) {
        if (!(other instanceof Row row) || row.size() != size()) {
            return false;
        }
        for (int i = 0; i < size(); i++) {
            if (!columns.name(i).equals(row.columns.name(i))) {
                return false;
            }
        }
        return Arrays.deepEquals(values(), row.values());
    }

    @Override
    public int hashCode() {
        return Arrays.deepHashCode(values());
    }

    @Override
    public String toString() {
        var text = new StringBuilder("{");
        Object[] values = values();
        for (int i = 0; i < values.length; i++) {
            text.append(i == 0 ? "" : ", ").append(columns.name(i)).append(": ");
            text.append(values[i] instanceof byte[] bytes ? bytes.length + " bytes" : values[i]);
        }
        return text.append('}').toString();
    }
}
