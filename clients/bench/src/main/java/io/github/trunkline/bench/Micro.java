package io.github.trunkline.bench;

import clojure.lang.ILookupThunk;
import clojure.lang.Keyword;
import io.github.trunkline.clojure.Keys;
import io.github.trunkline.clojure.RowMap;
import io.github.trunkline.row.Columns;
import io.github.trunkline.row.Row;
import io.github.trunkline.type.Decoder;
import io.github.trunkline.type.Types;
import io.github.trunkline.wire.ColumnDescription;
import io.github.trunkline.wire.Out;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** One value at a time, by JMH. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
public class Micro {
    private static final int[] OIDS = {20, 1184, 25, 1700, 1082};

    private final Row row = row();
    private final Object map = map();
    private final Object ordinary = clojure.lang.PersistentArrayMap.EMPTY.assoc(Keyword.intern(null, "c0"), 42L)
            .assoc(Keyword.intern(null, "c1"), 43L);
    /** What a call site (:c0 row) keeps. */
    private final ILookupThunk thunk = ((RowMap) map).getLookupThunk(Keyword.intern(null, "c0"));
    private final Keyword key = Keyword.intern(null, "c0");

    private static Row row() {
        var body = new Out().int16(OIDS.length).int32(8).int64(42).int32(8).int64(800_000_000_123_456L)
                .int32(20).bytes("a text of 20 letters".getBytes(java.nio.charset.StandardCharsets.US_ASCII))
                .int32(12).int16(2).int16(0).int16(0).int16(2).int16(1234).int16(5600).int32(4).int32(9000);
        var types = new Types();
        var decoders = new Decoder[OIDS.length];
        var descriptions = new ColumnDescription[OIDS.length];
        for (int i = 0; i < OIDS.length; i++) {
            decoders[i] = types.codec(OIDS[i]).binary();
            descriptions[i] = new ColumnDescription("c" + i, 0, 0, OIDS[i], -1, -1, 1);
        }
        return Row.of(new Columns(List.of(descriptions), decoders), java.util.Arrays.copyOf(body.array(), body.size()));
    }

    private static Object map() {
        Row row = row();
        var map = RowMap.of(Keys.keywords(row.columns()), row);
        map.valAt(Keyword.intern(null, "c0"));
        return map;
    }

    /** A call site's lookup of a long that was decoded before: {@code (:c0 row)}. */
    @Benchmark
    public Object keywordOfDecodedLong() {
        return thunk.get(map);
    }

    /** The same without a call site. */
    @Benchmark
    public Object valAtOfDecodedLong() {
        return ((RowMap) map).valAt(key);
    }

    /** For comparison: an ordinary map of two entries. */
    @Benchmark
    public Object valAtOfOrdinaryMap() {
        return ((clojure.lang.PersistentArrayMap) ordinary).valAt(key);
    }

    @Benchmark
    public long getLong() {
        return row.getLong(0);
    }

    @Benchmark
    public Object getInstant() {
        return row.getInstant(1);
    }

    @Benchmark
    public Object getString() {
        return row.getString(2);
    }

    @Benchmark
    public Object getBigDecimal() {
        return row.getBigDecimal(3);
    }

    @Benchmark
    public Object getLocalDate() {
        return row.getLocalDate(4);
    }
}
