package io.github.trunkline.type;

import io.github.trunkline.ValueException;
import io.github.trunkline.wire.Out;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The types a connection knows: PostgreSQL's own, a program's own ({@link #register}), and what was learned from the
 * database's catalogue. One object may serve many connections of one database; it may not serve several databases, whose
 * object ids differ.
 */
public final class Types {
    private final Map<Integer, Codec> byOid = new ConcurrentHashMap<>();
    private final Map<String, Codec> byName = new ConcurrentHashMap<>();

    /** PostgreSQL's own types; json and jsonb are Strings. */
    public Types() {
        this(null);
    }

    /** PostgreSQL's own types; {@code json} reads and writes json and jsonb. */
    public Types(JsonCodec json) {
        byOid.putAll(builtin(json));
        byOid.put(2249, CompositeType.record(this::codec));
        byName.put("hstore", ExtensionTypes.HSTORE);
        byName.put("vector", ExtensionTypes.VECTOR);
        byName.put("citext", TextTypes.text("citext"));
    }

    /** Reads and writes values of the type {@code oid} by {@code codec} from now on: statements prepared before keep theirs. */
    public Types register(int oid, Codec codec) {
        byOid.put(oid, codec);
        return this;
    }

    /**
     * Reads and writes values of the type called {@code name} by {@code codec}; its array type follows.
     *
     * @param name as in pg_type.typname, or with its schema before it: {@code shop.colour}
     */
    public Types register(String name, Codec codec) {
        byName.put(name, codec);
        return this;
    }

    /** The codec of a type; null if the type is unknown. */
    public Codec codec(int oid) {
        return byOid.get(oid);
    }

    Codec named(String schema, String name) {
        Codec codec = byName.get(schema + "." + name);
        return codec == null ? byName.get(name) : codec;
    }

    /** Remembers what the catalogue said, unless the program has registered something. */
    void learn(int oid, Codec codec) {
        byOid.putIfAbsent(oid, codec);
    }

    /** Writes a value in binary, also one given as a String, which is read here. */
    public static void encodeBinary(Codec codec, Object value, Out out) {
        encodeNested(codec, value, out);
    }

    /** Writes an element of an array, range or composite, which must be in binary. */
    static void encodeNested(Codec codec, Object value, Out out) {
        if (value instanceof String text && codec.binary() != TextTypes.UTF8) {
            // The whole is in binary, so the text is read here and not by the server.
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            Object parsed = codec.text().decode(bytes, 0, bytes.length);
            if (parsed instanceof String) {
                out.bytes(codec.name().equals("jsonb") ? ("\u0001" + text).getBytes(StandardCharsets.UTF_8) : bytes);
            } else {
                codec.encoder().encode(parsed, out);
            }
            return;
        }
        if (codec.encoder() == null) {
            throw new ValueException("values of type " + codec.name() + " cannot be sent inside of others");
        }
        codec.encoder().encode(value, out);
    }

    /** Object ids from PostgreSQL's pg_type.dat: they never change. */
    // tidy: long because it is one table
    private static Map<Integer, Codec> builtin(JsonCodec json) {
        var types = new HashMap<Integer, Codec>();
        add(types, 16, 1000, TextTypes.BOOL);
        add(types, 17, 1001, TextTypes.BYTEA);
        add(types, 18, 1002, TextTypes.text("char"));
        add(types, 19, 1003, TextTypes.text("name"));
        add(types, 20, 1016, NumberTypes.INT8);
        add(types, 21, 1005, NumberTypes.INT2);
        add(types, 23, 1007, NumberTypes.INT4);
        add(types, 25, 1009, TextTypes.text("text"));
        add(types, 26, 1028, NumberTypes.OID);
        add(types, 28, 1011, NumberTypes.OID);
        add(types, 29, 1012, NumberTypes.OID);
        add(types, 114, 199, JsonType.json(json));
        add(types, 142, 143, TextTypes.text("xml"));
        add(types, 600, 1017, GeometryTypes.POINT);
        add(types, 601, 1018, GeometryTypes.LSEG);
        add(types, 602, 1019, GeometryTypes.PATH);
        types.put(603, GeometryTypes.BOX);
        types.put(1020, ArrayType.of("_box", GeometryTypes.BOX, 603, ';'));
        add(types, 604, 1027, GeometryTypes.POLYGON);
        add(types, 628, 629, GeometryTypes.LINE);
        add(types, 650, 651, NetworkTypes.CIDR);
        add(types, 700, 1021, NumberTypes.FLOAT4);
        add(types, 701, 1022, NumberTypes.FLOAT8);
        types.put(705, TextTypes.text("unknown"));
        add(types, 718, 719, GeometryTypes.CIRCLE);
        add(types, 774, 775, NetworkTypes.MACADDR8);
        add(types, 790, 791, Codec.textOnly("money", text -> text));
        add(types, 829, 1040, NetworkTypes.MACADDR);
        add(types, 869, 1041, NetworkTypes.INET);
        add(types, 1033, 1034, Codec.textOnly("aclitem", text -> text));
        add(types, 1042, 1014, TextTypes.text("bpchar"));
        add(types, 1043, 1015, TextTypes.text("varchar"));
        add(types, 1082, 1182, TimeTypes.DATE);
        add(types, 1083, 1183, TimeTypes.TIME);
        add(types, 1114, 1115, TimeTypes.TIMESTAMP);
        add(types, 1184, 1185, TimeTypes.TIMESTAMPTZ);
        add(types, 1186, 1187, TimeTypes.INTERVAL);
        add(types, 1266, 1270, TimeTypes.TIMETZ);
        add(types, 1560, 1561, TextTypes.BIT);
        add(types, 1562, 1563, TextTypes.VARBIT);
        add(types, 1700, 1231, NumericType.CODEC);
        types.put(2278, Codec.of("void", (bytes, at, length) -> "", text -> "", null));
        add(types, 2950, 2951, TextTypes.UUID);
        add(types, 3802, 3807, JsonType.jsonb(json));
        addRange(types, 3904, 3905, 4451, 6150, "int4", NumberTypes.INT4);
        addRange(types, 3906, 3907, 4532, 6151, "num", NumericType.CODEC);
        addRange(types, 3908, 3909, 4533, 6152, "ts", TimeTypes.TIMESTAMP);
        addRange(types, 3910, 3911, 4534, 6153, "tstz", TimeTypes.TIMESTAMPTZ);
        addRange(types, 3912, 3913, 4535, 6155, "date", TimeTypes.DATE);
        addRange(types, 3926, 3927, 4536, 6157, "int8", NumberTypes.INT8);
        // In text, as psql shows them; their binary formats say nothing that a program would rather have.
        for (String type : new String[] {"24 1008 regproc", "27 1010 tid", "2202 2207 regprocedure", "2205 2210 regclass",
            "2206 2211 regtype", "3220 3221 pg_lsn", "3614 3643 tsvector", "3615 3645 tsquery", "4072 4073 jsonpath",
            "4089 4090 regnamespace", "4096 4097 regrole", "5038 5039 pg_snapshot"}) {
            String[] words = type.split(" ");
            add(types, Integer.parseInt(words[0]), Integer.parseInt(words[1]), Codec.textOnly(words[2], text -> text));
        }
        return types;
    }

    private static void add(Map<Integer, Codec> types, int oid, int arrayOid, Codec codec) {
        types.put(oid, codec);
        types.put(arrayOid, ArrayType.of("_" + codec.name(), codec, oid, ','));
    }

    private static void addRange(Map<Integer, Codec> types, int oid, int arrayOid, int multirangeOid,
            int multirangeArrayOid, String name, Codec element) {
        add(types, oid, arrayOid, RangeType.range(name + "range", element));
        add(types, multirangeOid, multirangeArrayOid, RangeType.multirange(name + "multirange", element));
    }
}
