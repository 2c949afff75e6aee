package io.github.trunkline.type;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.trunkline.Connection;
import io.github.trunkline.Server;
import io.github.trunkline.ValueException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** The ends of what types hold, and types within types: in binary, in text, and as parameters. */
@EnabledIfEnvironmentVariable(named = Server.VARIABLE, matches = ".+")
@ParameterizedClass
@MethodSource("io.github.trunkline.Server#all")
class EdgesTest {
    private final Server server;
    private final Connection connection;

    EdgesTest(Server server) {
        this.server = server;
        this.connection = server.connect();
    }

    @AfterEach
    void close() {
        connection.close();
    }

    private void same(Object expected, String type, String literal) {
        TypesTest.same(connection, expected, type, literal);
    }

    @Test
    void theEndsOfTime() {
        same(Instant.parse("-4712-01-01T00:00:00Z"), "timestamptz", "4713-01-01 00:00:00+00 BC");
        same(Instant.parse("0000-12-31T23:59:59.999999Z"), "timestamptz", "0001-12-31 23:59:59.999999+00 BC");
        same(Instant.parse("0001-01-01T00:00:00Z"), "timestamptz", "0001-01-01 00:00:00+00");
        same(Instant.parse("+294276-12-31T23:59:59.999999Z"), "timestamptz", "294276-12-31 23:59:59.999999+00");
        same(LocalDateTime.of(-4712, 1, 1, 0, 0), "timestamp", "4713-01-01 00:00:00 BC");
        same(LocalDateTime.MIN, "timestamp", "-infinity");
        same(LocalDate.of(5_874_897, 12, 31), "date", "5874897-12-31");
        same(LocalDate.of(0, 12, 31), "date", "0001-12-31 BC");
        same(LocalDate.MAX, "date", "infinity");
        same(LocalTime.of(23, 59, 59, 999_999_000), "time", "23:59:59.999999");
        same(OffsetTime.parse("00:00:00-15:59"), "timetz", "00:00:00-15:59");
        same(new Interval(Integer.MAX_VALUE, 0, 0), "interval", "178956970 years 7 mons");
        same(new Interval(0, Integer.MIN_VALUE + 1, 0), "interval", "-2147483647 days");
        if (server.version() >= 17) {
            same(Interval.NEGATIVE_INFINITY, "interval", "-infinity");
        }
        assertThrows(ValueException.class, () -> connection.query("select $1::timestamptz", Instant.MAX.minusSeconds(1)));
        assertThrows(ValueException.class, () -> connection.query("select $1::date", LocalDate.MAX.minusDays(1)));
    }

    @Test
    void hugeNumerics() {
        for (int digits : new int[] {19, 100, 1_000, 131_072}) {
            String nines = "9".repeat(digits);
            same(new BigDecimal(nines), "numeric", nines);
            same(new BigDecimal("-" + nines), "numeric", "-" + nines);
        }
        String small = "0." + "0".repeat(16_382) + "1";
        same(new BigDecimal(small), "numeric", small);
        same(BigDecimal.valueOf(0, 16_383), "numeric", "0." + "0".repeat(16_383));
        assertEquals(new BigDecimal(BigInteger.TEN.pow(1_000)),
                connection.query("select $1::numeric", BigInteger.TEN.pow(1_000)).one().get(0));
        var tooLarge = assertThrows(ValueException.class, () -> connection.query("select $1::numeric", new BigDecimal("1e131073")));
        assertTrue(tooLarge.getMessage().contains("131,072"), tooLarge.getMessage());
        assertThrows(ValueException.class, () -> connection.query("select $1::int8", new BigDecimal("9223372036854775808")));
        assertThrows(ValueException.class, () -> connection.query("select $1::int4", 1.5));
        assertThrows(ValueException.class, () -> connection.query("select 1e19::numeric").one().getLong(0));
    }

    @Test
    void arraysOfManyDimensions() {
        same(List.of(List.of(Arrays.asList(1, null), List.of(3, 4)), List.of(List.of(5, 6), List.of(7, 8))), "int4[]",
                "{{{1,NULL},{3,4}},{{5,6},{7,8}}}");
        Object deepest = List.of("x");
        for (int i = 0; i < 5; i++) {
            deepest = List.of(deepest);
        }
        same(deepest, "text[]", "{{{{{{x}}}}}}");
        same(Collections.singletonList(null), "text[]", "{NULL}");
        same(Arrays.asList(Double.NaN, Double.NEGATIVE_INFINITY, null), "float8[]", "{NaN,-Infinity,NULL}");
        var many = new ArrayList<Long>();
        for (long i = 0; i < 100_000; i++) {
            many.add(i);
        }
        assertEquals(many, connection.query("select array_agg(i - 1 order by i) from generate_series(1::int8, 100000) i").one().get(0));
        assertEquals(many, connection.query("select $1::int8[]", many).one().get(0));
        assertEquals(100_000, connection.query("select count(*) from unnest($1::int8[])", many).one().getLong(0));
    }

    @Test
    void rangesWithoutEnds() {
        same(Range.of(null, null), "int8range", "(,)");
        same(Range.of(Instant.MIN, Instant.MAX), "tstzrange", "[-infinity,infinity)");
        same(Range.of(LocalDate.of(-43, 3, 15), null), "daterange", "[\"0044-03-15 BC\",)");
        same(List.of(Range.of(null, 1L), Range.of(5L, null)), "int8multirange", "{(,1),[5,)}");
        same(Arrays.asList(Range.EMPTY, null, Range.of(1, 2)), "int4range[]", "{empty,NULL,\"[1,2)\"}");
        same(List.of(new Range(new BigDecimal("1.5"), new BigDecimal("2.5"), true, true, false)), "nummultirange", "{[1.5,2.5]}");
    }

    @Test
    void typesWithinTypes() {
        connection.script("drop schema if exists edges cascade; create schema edges; "
                + "create type edges.mood as enum ('sad, or \"so\"', 'ok'); create domain edges.many as int4[];"
                + "create type edges.inner as (r int4range, l text[], m edges.mood); "
                + "create type edges.outer as (i edges.inner, more edges.inner[], n numeric);"
                + "create type edges.nothing as ()");
        try {
            var inner = new Composite(List.of("r", "l", "m"),
                    List.of(Range.of(1, 5), Arrays.asList("a,\"b\"", null, "(c)\\"), "sad, or \"so\""));
            var none = new Composite(List.of("r", "l", "m"), Arrays.asList(null, null, null));
            var outer = new Composite(List.of("i", "more", "n"), Arrays.asList(inner, Arrays.asList(none, null, inner), null));
            assertEquals(outer, connection.query("select $1::edges.outer", outer).one().get(0));
            Object asText = connection.query("select $1::edges.outer::text", outer).one().get(0);
            assertEquals(outer, connection.query("select $1::text::edges.outer", asText).one().get(0));
            connection.execute("create table edges.kept as select $1::edges.outer as v", outer);
            assertEquals(outer, connection.script("select v from edges.kept").get(0).one().get(0));
            assertEquals(List.of(outer, outer), connection.query("select array[v, v] from edges.kept").one().get(0));
            same(List.of(1, 2), "edges.many", "{1,2}");
            same(Arrays.asList("ok", null), "edges.mood[]", "{ok,NULL}");
            same(new Composite(List.of(), List.of()), "edges.nothing", "()");
        } finally {
            connection.script("drop schema edges cascade");
        }
    }

    @Test
    void largeAndEmptyValues() {
        String large = "gr\u00fc\u00df".repeat(2_000_000);
        assertEquals(large, connection.query("select $1::text", large).one().get(0));
        var bytes = new byte[5_000_000];
        new java.util.Random(1).nextBytes(bytes);
        assertArrayEquals(bytes, (byte[]) connection.query("select $1::bytea", (Object) bytes).one().get(0));
        assertArrayEquals(new byte[0], (byte[]) connection.query("select $1::bytea", (Object) new byte[0]).one().get(0));
        same("", "varbit", "");
        same("", "text", "");
    }
}
