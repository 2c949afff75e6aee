package io.github.trunkline.type;

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;

/** PostgreSQL's own types by object id, from its pg_type.dat: these ids never change. */
final class BuiltinTypes {
    /** record. Its values name the types of their fields, so its codec needs all the others. */
    static final int RECORD = 2249;
    private static final int RECORD_ARRAY = 2287;

    private static final BuiltinTypes STRINGS_FOR_JSON = new BuiltinTypes(null);

    private final Map<Integer, Codec> codecs = new HashMap<>();
    private final Map<Integer, Integer> arrays = new HashMap<>();
    private final Map<String, Integer> names = new HashMap<>();

    /** The codecs of all types except record. Without {@code json}, json and jsonb are Strings. */
    static Map<Integer, Codec> codecs(JsonCodec json) {
        return Collections.unmodifiableMap((json == null ? STRINGS_FOR_JSON : new BuiltinTypes(json)).codecs);
    }

    /** The object id of PostgreSQL's own type {@code name}; null for any other name. */
    static Integer oid(String name) {
        return STRINGS_FOR_JSON.names.get(name.startsWith("pg_catalog.") ? name.substring(11) : name);
    }

    /** The object id of the array type of {@code oid}; null if that is not PostgreSQL's own. */
    static Integer arrayOid(int oid) {
        return STRINGS_FOR_JSON.arrays.get(oid);
    }

    /** pg_type.typdelim. */
    static char delimiter(int oid) {
        return oid == 603 ? ';' : ',';
    }

    /** True if every value of the type has a binary format. A record has one only if each of its fields has. */
    static boolean isSurelyBinary(int oid) {
        Codec codec = STRINGS_FOR_JSON.codecs.get(oid);
        return codec != null && codec.binary() != null && oid != RECORD && oid != RECORD_ARRAY;
    }

    // tidy: long because it is one table
    private BuiltinTypes(JsonCodec json) {
        add(16, 1000, TextTypes.BOOL);
        add(17, 1001, TextTypes.BYTEA);
        add(18, 1002, TextTypes.text("char"));
        add(19, 1003, TextTypes.text("name"));
        add(20, 1016, NumberTypes.INT8);
        add(21, 1005, NumberTypes.INT2);
        add(22, 1006, SpacedType.of("int2vector", NumberTypes.INT2, 21));
        add(23, 1007, NumberTypes.INT4);
        add(25, 1009, TextTypes.text("text"));
        add(26, 1028, NumberTypes.OID);
        add(28, 1011, NumberTypes.oid("xid"));
        add(29, 1012, NumberTypes.oid("cid"));
        add(30, 1013, SpacedType.of("oidvector", NumberTypes.OID, 26));
        add(114, 199, JsonType.json(json));
        add(142, 143, TextTypes.text("xml"));
        add(600, 1017, GeometryTypes.POINT);
        add(601, 1018, GeometryTypes.LSEG);
        add(602, 1019, GeometryTypes.PATH);
        add(603, 1020, GeometryTypes.BOX);
        add(604, 1027, GeometryTypes.POLYGON);
        add(628, 629, GeometryTypes.LINE);
        add(650, 651, NetworkTypes.CIDR);
        add(700, 1021, NumberTypes.FLOAT4);
        add(701, 1022, NumberTypes.FLOAT8);
        codecs.put(705, TextTypes.text("unknown"));
        add(718, 719, GeometryTypes.CIRCLE);
        add(774, 775, NetworkTypes.MACADDR8);
        add(790, 791, Codec.textOnly("money", text -> text));
        add(829, 1040, NetworkTypes.MACADDR);
        add(869, 1041, NetworkTypes.INET);
        add(1033, 1034, Codec.textOnly("aclitem", text -> text));
        add(1042, 1014, TextTypes.text("bpchar"));
        add(1043, 1015, TextTypes.text("varchar"));
        add(1082, 1182, TimeTypes.DATE);
        add(1083, 1183, TimeTypes.TIME);
        add(1114, 1115, TimeTypes.TIMESTAMP);
        add(1184, 1185, TimeTypes.TIMESTAMPTZ);
        add(1186, 1187, TimeTypes.INTERVAL);
        add(1266, 1270, TimeTypes.TIMETZ);
        add(1560, 1561, TextTypes.BIT);
        add(1562, 1563, TextTypes.VARBIT);
        add(1700, 1231, NumericType.CODEC);
        codecs.put(2278, Codec.of("void", (bytes, at, length) -> "", text -> "", null));
        add(2950, 2951, TextTypes.UUID);
        add(3802, 3807, JsonType.jsonb(json));
        addRange(3904, 3905, 4451, 6150, "int4", NumberTypes.INT4);
        addRange(3906, 3907, 4532, 6151, "num", NumericType.CODEC);
        addRange(3908, 3909, 4533, 6152, "ts", TimeTypes.TIMESTAMP);
        addRange(3910, 3911, 4534, 6153, "tstz", TimeTypes.TIMESTAMPTZ);
        addRange(3912, 3913, 4535, 6155, "date", TimeTypes.DATE);
        addRange(3926, 3927, 4536, 6157, "int8", NumberTypes.INT8);
        // As text, as psql shows them: a program would have no use for their binary formats.
        for (String type : new String[] {"24 1008 regproc", "27 1010 tid", "2202 2207 regprocedure", "2205 2210 regclass",
            "2206 2211 regtype", "3220 3221 pg_lsn", "3614 3643 tsvector", "3615 3645 tsquery", "4072 4073 jsonpath",
            "4089 4090 regnamespace", "4096 4097 regrole", "5038 5039 pg_snapshot", "5069 271 xid8"}) {
            String[] words = type.split(" ");
            add(Integer.parseInt(words[0]), Integer.parseInt(words[1]), Codec.textOnly(words[2], text -> text));
        }
    }

    private void add(int oid, int arrayOid, Codec codec) {
        codecs.put(oid, codec);
        codecs.put(arrayOid, ArrayType.of("_" + codec.name(), codec, oid, delimiter(oid)));
        arrays.put(oid, arrayOid);
        names.put(codec.name(), oid);
    }

    private void addRange(int oid, int arrayOid, int multirangeOid, int multirangeArrayOid, String name, Codec element) {
        add(oid, arrayOid, RangeType.range(name + "range", element));
        add(multirangeOid, multirangeArrayOid, RangeType.multirange(name + "multirange", element));
    }
}
