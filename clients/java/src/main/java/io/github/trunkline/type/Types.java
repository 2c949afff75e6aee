package io.github.trunkline.type;

import io.github.trunkline.ValueException;
import io.github.trunkline.wire.Out;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

/**
 * The codecs of a connection: for PostgreSQL's own types, for those that the program registers ({@link #register}), and for
 * those that the connection has looked up in the database's catalogue. Connections to one database may share an object;
 * connections to different databases may not, since the object ids differ.
 */
public final class Types {
    /** Types of extensions, whose object ids differ from database to database. */
    private static final Map<String, Codec> EXTENSIONS = Map.of("hstore", ExtensionTypes.HSTORE,
            "vector", ExtensionTypes.VECTOR, "halfvec", ExtensionTypes.HALF_VECTOR, "citext", TextTypes.text("citext"));

    private final Map<Integer, Codec> byOid = new ConcurrentHashMap<>();
    private final Map<String, Codec> byName = new ConcurrentHashMap<>();
    /** Those that the program has registered by their object ids. */
    private final Set<Integer> registered = ConcurrentHashMap.newKeySet();
    /** Those that were looked up in the catalogue. */
    private final Set<Integer> learned = ConcurrentHashMap.newKeySet();
    private final AtomicInteger version = new AtomicInteger();
    private volatile UnaryOperator<Object> adapter;

    /** PostgreSQL's own types; json and jsonb are Strings. */
    public Types() {
        this(null);
    }

    /** PostgreSQL's own types; {@code json} reads and writes json and jsonb. */
    public Types(JsonCodec json) {
        byOid.putAll(BuiltinTypes.codecs(json));
        byOid.put(BuiltinTypes.RECORD, CompositeType.record(this::codec));
    }

    /**
     * Reads and writes values of the type {@code oid} by {@code codec} from now on. Statements that are prepared already keep
     * their codecs. The type's array type also uses the codec, if it is PostgreSQL's own or not known yet.
     */
    public Types register(int oid, Codec codec) {
        byOid.put(oid, codec);
        registered.add(oid);
        Integer arrayOid = BuiltinTypes.arrayOid(oid);
        if (arrayOid != null) {
            byOid.put(arrayOid, ArrayType.of("_" + codec.name(), codec, oid, BuiltinTypes.delimiter(oid)));
            registered.add(arrayOid);
        }
        return this;
    }

    /**
     * Reads and writes values of the type called {@code name}, and of its array type, by {@code codec}. Call this before the
     * first statement with values of the type.
     *
     * @param name as in pg_type.typname ({@code int8}, {@code timestamptz}, {@code colour}), or with its schema before it:
     *     {@code shop.colour}
     */
    public Types register(String name, Codec codec) {
        Integer builtin = BuiltinTypes.oid(name);
        if (builtin != null) {
            return register(builtin, codec);
        }
        byName.put(name, codec);
        return this;
    }

    /**
     * Sets a conversion of every parameter, for languages with their own kinds of values. It runs before the codecs. Parameters
     * of json and jsonb, and of their arrays, are not converted: the JSON codec gets them.
     */
    public Types adapt(UnaryOperator<Object> given) {
        adapter = given;
        return this;
    }

    /** The parameters, converted as {@link #adapt} says. A codec is null where the type is unknown. */
    public Object[] adapted(Codec[] codecs, Object[] values) {
        UnaryOperator<Object> by = adapter;
        if (by == null) {
            return values;
        }
        var adapted = new Object[values.length];
        for (int i = 0; i < values.length; i++) {
            adapted[i] = codecs[i] != null && isJson(codecs[i].name()) ? values[i] : by.apply(values[i]);
        }
        return adapted;
    }

    private static boolean isJson(String name) {
        return name.equals("jsonb") || name.equals("json") || name.equals("_jsonb") || name.equals("_json");
    }

    /** True if every value of the type has a binary format: it is PostgreSQL's own, and the program has not registered it. */
    public boolean isSurelyBinary(int oid) {
        return BuiltinTypes.isSurelyBinary(oid) && !registered.contains(oid);
    }

    /** The codec of a type; null if the type is unknown. */
    public Codec codec(int oid) {
        return byOid.get(oid);
    }

    Codec named(String schema, String name) {
        Codec codec = byName.get(schema + "." + name);
        return codec == null ? byName.get(name) : codec;
    }

    /** The codec of a base type of an extension; null if it is not known here. */
    static Codec extension(String name) {
        return EXTENSIONS.get(name);
    }

    /** Adds a codec from the catalogue, unless the program has registered one for the type. */
    void learn(int oid, Codec codec) {
        if (byOid.putIfAbsent(oid, codec) == null) {
            learned.add(oid);
        }
    }

    /**
     * Forgets the types that were looked up in the catalogue, because they may have been altered. Each statement is prepared
     * again, and its types are looked up, when it runs next. Reading a value of an altered composite type calls this.
     */
    public void forgetLearned() {
        Set<Integer> all = Set.copyOf(learned);
        byOid.keySet().removeAll(all);
        learned.removeAll(all);
        version.incrementAndGet();
    }

    /** Changes with each {@link #forgetLearned}: codecs that were taken before are out of date. */
    public int version() {
        return version.get();
    }

    /** Writes a value in binary. A String is parsed first. */
    public static void encodeBinary(Codec codec, Object value, Out out) {
        encodeNested(codec, value, out);
    }

    /** Writes an element of an array, range or composite, which must be in binary. */
    static void encodeNested(Codec codec, Object value, Out out) {
        if (codec.encoder() == null) {
            throw new ValueException("values of type " + codec.name() + " cannot be sent inside of others");
        }
        if (value instanceof String text && codec.binary() != TextTypes.UTF8) {
            // The array or composite is sent in binary, so the client must parse the text, not the server.
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            codec.encoder().encode(codec.text().decode(bytes, 0, bytes.length), out);
        } else {
            codec.encoder().encode(value, out);
        }
    }
}
