package io.github.trunkline.session;

import io.github.trunkline.ValueException;
import io.github.trunkline.row.Columns;
import io.github.trunkline.type.Codec;
import io.github.trunkline.type.Decoder;
import io.github.trunkline.type.TextForm;
import io.github.trunkline.type.Types;
import io.github.trunkline.wire.ColumnDescription;
import io.github.trunkline.wire.Frontend;
import io.github.trunkline.wire.Out;
import java.util.ArrayList;
import java.util.List;

/** A prepared statement: its name at the server, its parameters, its columns, and the format of each. */
public final class Prepared {
    private static final short[] ALL_BINARY = {1};
    private static final short[] ALL_TEXT = {};

    private final String sql;
    private final String name;
    private final int[] parameterOids;
    private final Codec[] parameters;
    private final Codec[] results;
    private final Columns columns;
    private final short[] resultFormats;
    private final Types types;
    private final int typesVersion;

    /**
     * @param described its columns as the server has described them; null if it gives no rows
     * @param results the codec of each column
     * @param typesVersion the version of {@code types} when the codecs were taken from it
     */
    Prepared(String sql, String name, int[] parameterOids, Codec[] parameters, List<ColumnDescription> described,
            Codec[] results, Types types, int typesVersion) {
        this.sql = sql;
        this.name = name;
        this.parameterOids = parameterOids;
        this.parameters = parameters;
        this.results = results;
        this.columns = described == null ? null : columns(described, results);
        this.resultFormats = resultFormats(results);
        this.types = types;
        this.typesVersion = typesVersion;
    }

    /** False once the codecs are out of date. */
    boolean isCurrent() {
        return types.version() == typesVersion;
    }

    private static Columns columns(List<ColumnDescription> described, Codec[] codecs) {
        var decoders = new Decoder[codecs.length];
        for (int i = 0; i < decoders.length; i++) {
            decoders[i] = codecs[i].binary() == null ? codecs[i].text() : codecs[i].binary();
        }
        return new Columns(described, decoders);
    }

    /**
     * The same statement, with those columns in text whose values may contain a type without a send function: all columns
     * except those of PostgreSQL's own types that have one. Returns this statement itself if there is no such column.
     */
    Prepared inText() {
        var codecs = results.clone();
        var described = new ArrayList<ColumnDescription>();
        boolean changed = false;
        for (int i = 0; i < codecs.length; i++) {
            described.add(columns.description(i));
            if (codecs[i].binary() != null && !types.isSurelyBinary(columns.description(i).typeOid())) {
                codecs[i] = new Codec(codecs[i].name(), null, codecs[i].text(), codecs[i].encoder());
                changed = true;
            }
        }
        return changed ? new Prepared(sql, name, parameterOids, parameters, described, codecs, types, typesVersion) : this;
    }

    /** Its text. */
    public String sql() {
        return sql;
    }

    /** Its name at the server. */
    public String name() {
        return name;
    }

    /** Its columns; null if it gives no rows. */
    public Columns columns() {
        return columns;
    }

    Columns columnsOrNone() {
        return columns == null ? Answers.NONE : columns;
    }

    /** The types of its parameters: object ids, unsigned. */
    public int[] parameterOids() {
        return parameterOids.clone();
    }

    /**
     * Puts a Bind of the unnamed portal.
     *
     * @throws ValueException if a value cannot be sent: the buffer is then as it was before
     */
    void bind(Frontend frontend, Object[] given) {
        if (given.length != parameters.length) {
            throw new ValueException(wrongCount(parameters.length, given.length, sql));
        }
        Out out = frontend.out;
        int before = out.size();
        int index = 0;
        try {
            Object[] values = types.adapted(parameters, given);
            int mark = frontend.beginBind("", name, formats(values), values.length);
            for (; index < values.length; index++) {
                put(out, parameters[index], values[index]);
            }
            frontend.endBind(mark, resultFormats);
        } catch (Throwable e) {
            // Else half of a message would be sent together with the next one.
            out.truncate(before);
            if (e instanceof Error error) {
                throw error;
            }
            throw new ValueException("parameter $" + (index + 1) + " of type "
                    + (index < parameters.length ? typeName(index) : "?") + ": " + e.getMessage(), e);
        }
    }

    static String wrongCount(int parameters, int values, String sql) {
        return "the statement has " + parameters + " parameters, and " + values + " values are given: " + sql;
    }

    private String typeName(int index) {
        return parameters[index] == null ? Integer.toUnsignedString(parameterOids[index]) : parameters[index].name();
    }

    private short[] formats(Object[] values) {
        var formats = new short[values.length];
        boolean anyText = false;
        for (int i = 0; i < values.length; i++) {
            boolean text = isText(parameters[i], values[i]);
            formats[i] = (short) (text ? 0 : 1);
            anyText |= text;
        }
        return anyText ? formats : values.length == 0 ? ALL_TEXT : ALL_BINARY;
    }

    /** Strings are sent as text for any type, and so are values of types without an encoder. */
    private static boolean isText(Codec codec, Object value) {
        return value instanceof String || codec == null || codec.encoder() == null;
    }

    private static void put(Out out, Codec codec, Object value) {
        if (value == null) {
            out.int32(-1);
            return;
        }
        int mark = out.openLength();
        if (isText(codec, value)) {
            out.text(TextForm.of(codec, value));
        } else {
            codec.encoder().encode(value, out);
        }
        out.patchLength(mark);
    }

    /** A String or null, as text. */
    static void putText(Out out, Object value) {
        put(out, null, value);
    }

    private static short[] resultFormats(Codec[] codecs) {
        var formats = new short[codecs.length];
        boolean all = true;
        boolean any = false;
        for (int i = 0; i < codecs.length; i++) {
            boolean binary = codecs[i].binary() != null;
            formats[i] = (short) (binary ? 1 : 0);
            all &= binary;
            any |= binary;
        }
        return !any ? ALL_TEXT : all ? ALL_BINARY : formats;
    }
}
