package io.github.trunkline.bench;

import clojure.lang.Keyword;
import io.github.trunkline.clojure.Keys;
import io.github.trunkline.clojure.RowMap;
import io.github.trunkline.row.Columns;
import io.github.trunkline.row.Row;
import io.github.trunkline.type.Decoder;
import io.github.trunkline.type.Types;
import io.github.trunkline.wire.ColumnDescription;
import io.github.trunkline.wire.Out;
import java.util.Arrays;
import java.util.List;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLLL_Result;

/**
 * Two threads that ask a fresh row's map for values at once, in either order: each gets the right ones, whole. A BigDecimal
 * and a Composite are objects of objects: one that is published without care may be seen half made.
 */
@JCStressTest
@Outcome(id = "42, 12.34, 12.34, 42", expect = Expect.ACCEPTABLE, desc = "the values")
@Outcome(expect = Expect.FORBIDDEN, desc = "anything else")
@State
public class SharedMap {
    private static final int[] OIDS = {20, 1700};
    private static final Keyword LONG = Keyword.intern(null, "c0");
    private static final Keyword DECIMAL = Keyword.intern(null, "c1");
    private static final Row ROW = row();
    private static final Keys KEYS = Keys.keywords(ROW.columns());

    private final RowMap map = RowMap.of(KEYS, ROW);

    private static Row row() {
        var body = new Out().int16(OIDS.length).int32(8).int64(42).int32(12).int16(2).int16(0).int16(0).int16(2).int16(12)
                .int16(3400);
        var types = new Types();
        var decoders = new Decoder[OIDS.length];
        var descriptions = new ColumnDescription[OIDS.length];
        for (int i = 0; i < OIDS.length; i++) {
            decoders[i] = types.codec(OIDS[i]).binary();
            descriptions[i] = new ColumnDescription("c" + i, 0, 0, OIDS[i], -1, -1, 1);
        }
        return Row.of(new Columns(List.of(descriptions), decoders), Arrays.copyOf(body.array(), body.size()));
    }

    @Actor
    public void first(LLLL_Result result) {
        result.r1 = map.valAt(LONG);
        result.r2 = map.valAt(DECIMAL);
    }

    @Actor
    public void second(LLLL_Result result) {
        result.r3 = map.valAt(DECIMAL);
        result.r4 = map.valAt(LONG);
    }
}
