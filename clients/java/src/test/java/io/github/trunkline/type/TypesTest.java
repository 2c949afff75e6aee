package io.github.trunkline.type;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.trunkline.Connection;
import io.github.trunkline.Server;
import io.github.trunkline.ValueException;
import io.github.trunkline.row.Row;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.InetAddress;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

@EnabledIfEnvironmentVariable(named = Server.VARIABLE, matches = ".+")
@ParameterizedClass
@MethodSource("io.github.trunkline.Server#all")
class TypesTest {
    private final Server server;
    private final Connection connection;

    TypesTest(Server server) {
        this.server = server;
        this.connection = server.connect();
    }

    @AfterEach
    void close() {
        connection.close();
    }

    /** The server's own value in binary and in text, and ours sent and given back, are all the same. */
    private void same(Object expected, String type, String literal) {
        same(connection, expected, type, literal);
    }

    static void same(Connection connection, Object expected, String type, String literal) {
        String sql = "select '" + literal.replace("'", "''") + "'::" + type + " as v";
        assertEquals(expected, connection.query(sql).one().get(0), "binary " + sql);
        assertEquals(expected, connection.script(sql).get(0).one().get(0), "text " + sql);
        Row back = connection.query("select $1::" + type + " as v, $1::" + type + "::text = '" + literal.replace("'", "''")
                + "'::" + type + "::text as same", expected).one();
        assertEquals(expected, back.get(0), "sent " + sql);
        assertTrue(back.getBoolean(1), "the server reads " + expected + " as another " + type + " than " + literal);
    }

    @Test
    void numbers() {
        same((short) -32768, "int2", "-32768");
        same(Integer.MIN_VALUE, "int4", "-2147483648");
        same(Long.MIN_VALUE, "int8", "-9223372036854775808");
        same(Long.MAX_VALUE, "int8", "9223372036854775807");
        same(4294967295L, "oid", "4294967295");
        same(1.1f, "float4", "1.1");
        same(Float.NaN, "float4", "NaN");
        same(-1.0 / 3, "float8", "-0.3333333333333333");
        same(Double.NEGATIVE_INFINITY, "float8", "-Infinity");
        for (String text : new String[] {"0", "-0", "0.1", "-12.5", "123456789012345", "1e+22", "0.00001234", "1.5e-300",
            "99999999999999.9", "-0.3", "1234567890123456"}) {
            same(Double.valueOf(text), "float8", text);
        }
        same(true, "bool", "t");
    }

    @Test
    void numerics() {
        for (String text : new String[] {"0", "0.00", "1", "-1", "10000", "0.0001", "0.00001", "123456789.987654321",
            "-99999999999999999999999999999999.000000000001", "1000000000000000000000000000000", "0.00000000000000001234",
            "9999", "99990000", "12340000.5600", "-0.5", "-12.0", "100.0", "1000000.10", "0.1230", "999999999999999999",
            "9999999999999999999", "-123456789012345.67", "12345678.90123", "5000.5", "70000"}) {
            same(new BigDecimal(text), "numeric", text);
        }
        same(Double.NaN, "numeric", "NaN");
        same(Double.POSITIVE_INFINITY, "numeric", "Infinity");
        same(Double.NEGATIVE_INFINITY, "numeric", "-Infinity");
        assertEquals("1E+3", new BigDecimal("1E+3").toString());
        Row row = connection.query("select $1::numeric, $2::numeric, $3::numeric, $4::numeric",
                new BigDecimal("1E+3"), BigInteger.TEN.pow(40), 7, 2.5).one();
        assertEquals("[1000, 10000000000000000000000000000000000000000, 7, 2.5]", Arrays.toString(row.values()));
        assertEquals(new BigDecimal("7"), row.getBigDecimal(2));
        assertEquals(7, row.getLong(2));
        assertThrows(ValueException.class, () -> row.getLong(3));
    }

    @Test
    void textsAndBytes() {
        same("gr\u00fc\u00dfe \ud83d\ude00", "text", "gr\u00fc\u00dfe \ud83d\ude00");
        same("", "varchar", "");
        same("a  ", "char(3)", "a");
        same("n", "name", "n");
        same("x", "\"char\"", "x");
        same(UUID.fromString("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"), "uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11");
        same("0101", "bit(4)", "0101");
        same("010101010", "varbit", "010101010");
        same("<a/>", "xml", "<a/>");
        byte[] all = new byte[256];
        for (int i = 0; i < 256; i++) {
            all[i] = (byte) i;
        }
        assertArrayEquals(all, (byte[]) connection.query("select $1::bytea", (Object) all).one().get(0));
        assertArrayEquals(new byte[] {0, (byte) 0xff, '\\'},
                (byte[]) connection.script("select '\\x00ff5c'::bytea").get(0).one().get(0));
        assertArrayEquals(new byte[] {0, (byte) 0xff, '\\', 'a'}, (byte[]) connection.script(
                "begin; set local bytea_output = 'escape'; select '\\x00ff5c61'::bytea; commit").get(2).one().get(0));
    }

    @Test
    void times() {
        same(Instant.parse("2024-02-29T12:34:56.789012Z"), "timestamptz", "2024-02-29 12:34:56.789012+00");
        same(Instant.parse("1999-12-31T23:59:59.999999Z"), "timestamptz", "1999-12-31 23:59:59.999999+00");
        same(Instant.MAX, "timestamptz", "infinity");
        same(Instant.MIN, "timestamptz", "-infinity");
        same(LocalDateTime.parse("2024-02-29T12:34:56.000001"), "timestamp", "2024-02-29 12:34:56.000001");
        same(LocalDateTime.of(0, 2, 29, 0, 0), "timestamp", "0001-02-29 00:00:00 BC");
        same(LocalDateTime.of(294276, 12, 31, 23, 59, 59, 999_999_000), "timestamp", "294276-12-31 23:59:59.999999");
        same(LocalDateTime.MAX, "timestamp", "infinity");
        same(LocalDate.of(-4712, 1, 1), "date", "4713-01-01 BC");
        same(LocalDate.parse("2024-02-29"), "date", "2024-02-29");
        same(LocalDate.MIN, "date", "-infinity");
        same(LocalTime.parse("12:34:56.789"), "time", "12:34:56.789");
        same(LocalTime.MAX, "time", "24:00:00");
        same(OffsetTime.parse("12:34:56+05:30"), "timetz", "12:34:56+05:30");
        Row row = connection.query("select $1::timestamptz, $2::timestamptz",
                OffsetDateTime.parse("2024-01-01T02:00:00+02:00"), new java.util.Date(0)).one();
        assertEquals(Instant.parse("2024-01-01T00:00:00Z"), row.getInstant(0));
        assertEquals(OffsetDateTime.of(1970, 1, 1, 0, 0, 0, 0, ZoneOffset.UTC), row.getOffsetDateTime(1));
    }

    @Test
    void timesInOtherZones() {
        connection.transaction(tx -> {
            tx.execute("set local time zone 'Asia/Kolkata'");
            String sql = "select '2024-01-01 00:00:00+00'::timestamptz";
            assertEquals(Instant.parse("2024-01-01T00:00:00Z"), tx.script(sql).get(0).one().get(0));
            tx.execute("set local time zone 'America/St_Johns'");
            return assertEquals1(Instant.parse("1900-01-01T00:00:00Z"),
                    tx.script("select '1900-01-01 00:00:00+00'::timestamptz").get(0).one().get(0));
        });
    }

    private static Object assertEquals1(Object expected, Object actual) {
        assertEquals(expected, actual);
        return actual;
    }

    @Test
    void intervals() {
        same(new Interval(14, -3, 14_706_789_000L), "interval", "1 year 2 mons -3 days +04:05:06.789");
        same(new Interval(0, 0, -1), "interval", "-00:00:00.000001");
        same(new Interval(-1, 0, 0), "interval", "-1 mons");
        Row row = connection.query("select $1::interval, $2::interval", Duration.ofHours(50), Period.of(1, 2, 3)).one();
        assertEquals(Duration.ofHours(50), row.get(0, Interval.class).duration());
        assertEquals(Period.of(1, 2, 3), row.get(1, Interval.class).period());
        if (server.version() >= 17) {
            same(Interval.INFINITY, "interval", "infinity");
        }
    }

    @Test
    void arrays() {
        same(List.of(), "int4[]", "{}");
        same(Arrays.asList(1, null, 3), "int4[]", "{1,NULL,3}");
        same(List.of(List.of(1L, 2L), List.of(3L, 4L)), "int8[]", "{{1,2},{3,4}}");
        same(Arrays.asList("a,b", "\"", "\\", "", "NULL", null, " x "), "text[]",
                "{\"a,b\",\"\\\"\",\"\\\\\",\"\",\"NULL\",NULL,\" x \"}");
        same(List.of(Instant.parse("2024-01-01T00:00:00Z"), Instant.MAX), "timestamptz[]",
                "{\"2024-01-01 00:00:00+00\",infinity}");
        same(List.of(new BigDecimal("1.50")), "numeric[]", "{1.50}");
        assertEquals(List.of(7, 8), connection.query("select '[0:1]={7,8}'::int4[]").one().get(0));
        assertEquals(List.of(7, 8), connection.script("select '[0:1]={7,8}'::int4[]").get(0).one().get(0));
        assertEquals(List.of(1, 2), connection.query("select $1::int4[]", new int[] {1, 2}).one().get(0));
        assertEquals(List.of("1", "2"), connection.query("select $1::text[]", (Object) new String[] {"1", "2"}).one().get(0));
        assertEquals(List.of(1, 2), connection.query("select $1::int4[]", List.of("1", "2")).one().get(0));
        assertThrows(ValueException.class, () -> connection.query("select $1::int4[]", List.of(List.of(1), List.of())));
    }

    @Test
    void ranges() {
        same(Range.of(1, 5), "int4range", "[1,5)");
        same(Range.EMPTY, "int4range", "empty");
        same(new Range(null, new BigDecimal("2.5"), false, true, false), "numrange", "(,2.5]");
        same(Range.of(Instant.parse("2024-01-01T00:00:00Z"), null), "tstzrange", "[\"2024-01-01 00:00:00+00\",)");
        same(List.of(Range.of(1, 3), Range.of(5, 7)), "int4multirange", "{[1,3),[5,7)}");
        same(List.of(), "int4multirange", "{}");
        same(List.of(Range.of(LocalDate.parse("2024-01-01"), LocalDate.parse("2024-01-03"))), "daterange[]",
                "{\"[2024-01-01,2024-01-03)\"}");
    }

    @Test
    void networksAndGeometry() throws Exception {
        same(new Inet(InetAddress.getByName("192.0.2.1"), 32), "inet", "192.0.2.1");
        same(new Inet(InetAddress.getByName("192.0.2.0"), 24), "cidr", "192.0.2.0/24");
        same(new Inet(InetAddress.getByName("2001:db8::1"), 64), "inet", "2001:db8::1/64");
        same("08:00:2b:01:02:03", "macaddr", "08:00:2b:01:02:03");
        same("08:00:2b:01:02:03:04:05", "macaddr8", "08:00:2b:01:02:03:04:05");
        var a = new Geometry.Point(1, 2.5);
        var b = new Geometry.Point(-3, 0);
        same(a, "point", "(1,2.5)");
        same(new Geometry.Line(1, 2, 3), "line", "{1,2,3}");
        same(new Geometry.Segment(a, b), "lseg", "[(1,2.5),(-3,0)]");
        same(new Geometry.Box(a, b), "box", "(1,2.5),(-3,0)");
        same(new Geometry.Path(List.of(a, b), false), "path", "[(1,2.5),(-3,0)]");
        same(new Geometry.Path(List.of(a, b), true), "path", "((1,2.5),(-3,0))");
        same(new Geometry.Polygon(List.of(a, b)), "polygon", "((1,2.5),(-3,0))");
        same(new Geometry.Circle(a, 2), "circle", "<(1,2.5),2>");
        assertEquals(List.of(new Geometry.Box(a, b)), connection.query("select '{(1,2.5),(-3,0)}'::box[]").one().get(0));
        assertEquals(List.of(new Geometry.Box(a, b)),
                connection.script("select '{(1,2.5),(-3,0)}'::box[]").get(0).one().get(0));
    }

    @Test
    void typesThatAreTextHere() {
        for (String sql : new String[] {"'$1.50'::money", "'pg_class'::regclass", "'0/16B3748'::pg_lsn",
            "'''a'':1'::tsvector", "'(1,2)'::tid", "'{=r/postgres}'::aclitem[]"}) {
            Object binary = connection.query("select " + sql).one().get(0);
            assertEquals(connection.script("select " + sql).get(0).one().get(0), binary, sql);
        }
        assertEquals("$1.50", connection.query("select $1::money", "$1.50").one().get(0));
    }

    @Test
    void json() {
        same("{\"a\": 1}", "jsonb", "{\"a\": 1}");
        same("{\"a\" :1}", "json", "{\"a\" :1}");
        var mapper = new ObjectMapper();
        var types = new Types(new JsonCodec() {
            @Override
            public Object read(byte[] bytes, int at, int length) throws Exception {
                return mapper.readTree(bytes, at, length);
            }

            @Override
            public byte[] write(Object value) throws Exception {
                return mapper.writeValueAsBytes(value);
            }
        });
        try (Connection plugged = Connection.connect(server.builder().build(), types)) {
            Row row = plugged.query("select $1::jsonb as b, $1::jsonb::json as j, array[$1::jsonb] as l",
                    Map.of("a", List.of(1, 2))).one();
            assertEquals(2, assertInstanceOf(JsonNode.class, row.get("b")).get("a").get(1).asInt());
            assertEquals(row.get("b"), row.get("j"));
            assertEquals(List.of(row.get("b")), row.get("l"));
            assertEquals("{\"a\": [1, 2]}", row.getString("b"));
        }
    }

    @Test
    void typesOfTheDatabase() {
        connection.script("drop schema if exists kinds cascade; create schema kinds;"
                + "create type kinds.colour as enum ('red', 'green');"
                + "create domain kinds.positive as int check (value > 0);"
                + "create type kinds.point3 as (x float8, y float8, \"the z\" int, c kinds.colour);"
                + "create type kinds.pair as (a kinds.point3, b kinds.positive[]);"
                + "create type kinds.span as range (subtype = float8);"
                + "create type kinds.odd as (a int, r regclass)");
        same("green", "kinds.colour", "green");
        same(List.of("red", "green"), "kinds.colour[]", "{red,green}");
        same(7, "kinds.positive", "7");
        same(Range.of(1.0, 2.5), "kinds.span", "[1,2.5)");
        var names = List.of("x", "y", "the z", "c");
        var point = new Composite(names, Arrays.asList(1.5, null, 3, "red"));
        same(point, "kinds.point3", "(1.5,,3,red)");
        same(new Composite(List.of("a", "b"), List.of(point, List.of(1, 2))), "kinds.pair", "(\"(1.5,,3,red)\",\"{1,2}\")");
        assertEquals(3, point.get("the z"));
        assertEquals(point, connection.query("select $1::kinds.point3", List.of("1.5", "NaN", 3, "red")).one()
                .get(0, Composite.class).get("y").equals(Double.NaN) ? point : null);
        // A field without a binary format makes the whole text.
        assertEquals(new Composite(List.of("a", "r"), List.of(1, "pg_class")),
                connection.query("select (1, 'pg_class')::kinds.odd").one().get(0));
        assertEquals(List.of(1, "x"), connection.query("select row(1, 'x'::text)").one().get(0, Composite.class).values());
        connection.script("drop schema kinds cascade");
    }

    @Test
    void aProgramsOwnTypes() {
        connection.script("drop schema if exists own cascade; create schema own; create type own.mood as enum ('sad', 'ok')");
        enum Mood { SAD, OK }
        Decoder decoder = (bytes, at, length) -> Mood.valueOf(Codec.utf8(bytes, at, length).toUpperCase());
        var types = new Types().register("own.mood", new Codec("mood", decoder, decoder,
                (value, out) -> out.text(((Mood) value).name().toLowerCase())));
        types.register(20, new Codec("int8", (bytes, at, length) -> {
            throw new IllegalStateException("a codec's own mistake");
        }, TextTypes.UTF8, null));
        try (Connection own = Connection.connect(server.builder().build(), types)) {
            assertEquals(Mood.OK, own.query("select $1::own.mood", Mood.OK).one().get(0));
            assertEquals(List.of(Mood.SAD), own.query("select array[$1::own.mood]", Mood.SAD).one().get(0));
            Row row = own.query("select 1::int8 as wrong, 2 as right").one();
            var error = assertThrows(ValueException.class, () -> row.get(0));
            assertTrue(error.getMessage().contains("wrong") && error.getMessage().contains("a codec's own mistake"),
                    error.getMessage());
            assertThrows(ValueException.class, row::values);
            assertEquals(2, row.getInt(1));
            assertEquals(1, own.query("select 1").one().getInt(0));
        }
        connection.script("drop schema own cascade");
    }

    @Test
    void extensions() {
        connection.script("create extension if not exists hstore; create extension if not exists citext");
        var map = new LinkedHashMap<String, String>();
        map.put("a b", "1,\"2\"");
        map.put("n", null);
        map.put("=>", "\\ \u00fc");
        map.put("empty", "");
        String literal = "\"n\"=>NULL, \"=>\"=>\"\\\\ \u00fc\", \"a b\"=>\"1,\\\"2\\\"\", \"empty\"=>\"\"";
        same(map, "hstore", literal);
        same(List.of(Map.of("k", "v")), "hstore[]", "{\"\\\"k\\\"=>\\\"v\\\"\"}");
        same("Text", "citext", "Text");
        assertEquals(Map.of(), connection.query("select ''::hstore").one().get(0));
    }

    /** A type of the program's own may have the name of an extension's. */
    @Test
    void aCompositeCalledVector() {
        connection.script("drop schema if exists geo cascade; create schema geo; create type geo.vector as (x float8, y float8)");
        same(new Composite(List.of("x", "y"), List.of(1.5, 2.0)), "geo.vector", "(1.5,2)");
        connection.script("drop schema geo cascade");
    }

    @Test
    void compositesAsMaps() {
        connection.script("drop schema if exists maps cascade; create schema maps; create type maps.pair as (a int, b text)");
        assertEquals(new Composite(List.of("a", "b"), Arrays.asList(1, null)),
                connection.query("select $1::maps.pair", Map.of("a", 1)).one().get(0));
        var wrong = assertThrows(ValueException.class, () -> connection.query("select $1::maps.pair", Map.of("A", 1)));
        assertTrue(wrong.getMessage().contains("no field A; it has [a, b]"), wrong.getMessage());
        connection.script("drop schema maps cascade");
    }

    @Test
    void arraysOfWhatIsSentAsText() throws Exception {
        same(List.of("$1.50", "$2.00"), "money[]", "{$1.50,$2.00}");
        same(Arrays.asList("pg_class", null), "regclass[]", "{pg_class,NULL}");
        same(List.of("'a,b' & 'c\"d'"), "tsquery[]", "{\"'a,b' & 'c\\\"d'\"}");
        same(List.of("08:00:2b:01:02:03"), "macaddr[]", "{08:00:2b:01:02:03}");
        same(List.of("0101"), "bit(4)[]", "{0101}");
        same(List.of("{\"a\": 1}"), "json[]", "{\"{\\\"a\\\": 1}\"}");
        same(List.of("{\"a\": 1}"), "jsonb[]", "{\"{\\\"a\\\": 1}\"}");
        var a = new Geometry.Point(1, 2.5);
        var b = new Geometry.Point(-3, 0.1);
        same(List.of(a, b), "point[]", "{\"(1,2.5)\",\"(-3,0.1)\"}");
        same(List.of(new Geometry.Box(a, b)), "box[]", "{(1,2.5),(-3,0.1)}");
        same(List.of(new Geometry.Path(List.of(a, b), true)), "path[]", "{\"((1,2.5),(-3,0.1))\"}");
        same(List.of((short) 3, (short) 4), "int2vector", "3 4");
        same(List.of(5L, 6L), "oidvector", "5 6");
        assertEquals(List.of(), connection.query("select ''::oidvector").one().get(0));
        assertEquals(List.of(), connection.script("select ''::oidvector").get(0).one().get(0));
    }

    @Test
    void javasOlderDates() {
        var date = new java.util.Date(1_700_000_000_123L);
        LocalDateTime local = LocalDateTime.ofInstant(date.toInstant(), java.time.ZoneId.systemDefault());
        Row row = connection.query("select $1::timestamptz, $1::timestamp, $1::date", date).one();
        assertEquals(date.toInstant(), row.get(0));
        assertEquals(local, connection.query("select $1::timestamp", date).one().get(0));
        assertEquals(local.toLocalDate(), connection.query("select $1::date", date).one().get(0));
        var precise = java.sql.Timestamp.from(Instant.parse("2024-01-01T00:00:00.123456Z"));
        assertEquals(precise.toInstant(), connection.query("select $1::timestamptz", precise).one().get(0));
        assertEquals(LocalDate.of(2024, 2, 29),
                connection.query("select $1::date", java.sql.Date.valueOf("2024-02-29")).one().get(0));
    }

    /** PostgreSQL's own types can be read in another way, by object id or by name, with their arrays. */
    @Test
    void aProgramsOwnWayWithTypesOfPostgres() {
        Codec builtin = new Types().codec(1184);
        var asTimes = new Codec("timestamptz",
                (bytes, at, length) -> ((Instant) builtin.binary().decode(bytes, at, length)).atOffset(ZoneOffset.UTC),
                (bytes, at, length) -> ((Instant) builtin.text().decode(bytes, at, length)).atOffset(ZoneOffset.UTC),
                builtin.encoder());
        OffsetDateTime time = OffsetDateTime.parse("2024-01-01T00:00:00Z");
        for (Types types : List.of(new Types().register("timestamptz", asTimes), new Types().register(1184, asTimes))) {
            try (Connection own = Connection.connect(server.builder().build(), types)) {
                Row row = own.query("select $1::timestamptz, array[$1::timestamptz], $2::timestamptz[]", time, List.of(time))
                        .one();
                assertEquals(Arrays.asList(time, List.of(time), List.of(time)), Arrays.asList(row.values()));
            }
        }
    }

    /** Each type of the catalogue is described, read and sent as NULL and in an array; no statement fails for its types. */
    @Test
    void everyTypeThereIs() {
        var names = connection.query("select format_type(oid, null) from pg_type t where typtype in ('b', 'd', 'e', 'r', 'm') "
                + "and typnamespace = 'pg_catalog'::regnamespace and typname !~ '^(pg_|_)' and typelem = 0 "
                + "and typinput not in ('pg_node_tree_in'::regproc) order by oid");
        assertTrue(names.size() > 60, "" + names.size());
        for (Row name : names) {
            String sql = "select null::" + name.getString(0) + ", array[null::" + name.getString(0) + "]";
            assertEquals(Arrays.asList(null, java.util.Collections.singletonList(null)),
                    Arrays.asList(connection.query(sql).one().values()), sql);
        }
    }

    /** After a migration a program's pool lives on: one reading fails, and says so, and then the type is known again. */
    @Test
    void aCompositeThatIsAltered() {
        connection.script("drop table if exists altered; drop type if exists alterable; create type alterable as (a int); "
                + "create table altered (v alterable, l alterable[]); insert into altered values ('(1)', '{(1)}')");
        for (String column : new String[] {"v", "l"}) {
            assertTrue(connection.query("select " + column + " as x from altered").one().toString().contains("names=[a], values=[1]"));
        }
        connection.script("alter type alterable add attribute b text; update altered set v = '(2,x)', l = '{\"(2,x)\"}'");
        for (String column : new String[] {"v", "l"}) {
            Row row = connection.query("select " + column + " as x from altered").one();
            if (column.equals("v")) {
                var error = assertThrows(ValueException.class, () -> row.get(0));
                assertTrue(error.getMessage().contains("2 fields, and the type had 1"), error.getMessage());
            }
        }
        for (String column : new String[] {"v", "l"}) {
            Row row = connection.query("select " + column + " as x from altered").one();
            assertTrue(row.toString().contains("names=[a, b], values=[2, x]"), row.toString());
        }
        assertEquals(1, connection.execute("update altered set v = $1", Map.of("a", 3, "b", "y")));
        connection.script("drop table altered; drop type alterable");
    }
}
