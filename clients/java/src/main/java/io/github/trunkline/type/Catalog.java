package io.github.trunkline.type;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/** Looks up a database's own types in pg_type: enums, domains, composites, ranges, arrays, and types of extensions. */
public final class Catalog {
    /** How deep types may be nested; a deeper type is read as text. */
    private static final int DEPTH_MAX = 32;

    private static final String TYPES = "select t.oid, n.nspname, t.typname, t.typtype, "
            + "case when t.typlen = -1 and t.typsubscript = 'pg_catalog.array_subscript_handler'::pg_catalog.regproc "
            + "then t.typelem else 0 end, t.typdelim, t.typbasetype, "
            + "coalesce(r.rngsubtype, m.rngsubtype, 0), coalesce(a.names, ''), coalesce(a.oids, ''), "
            + "t.typsend <> 0, t.typreceive <> 0 "
            + "from pg_catalog.pg_type t join pg_catalog.pg_namespace n on n.oid = t.typnamespace "
            + "left join pg_catalog.pg_range r on r.rngtypid = t.oid "
            + "left join pg_catalog.pg_range m on m.rngmultitypid = t.oid "
            + "left join lateral (select pg_catalog.string_agg(pg_catalog.encode(pg_catalog.convert_to(attname, 'UTF8'), "
            + "'hex'), ',' order by attnum) as names, pg_catalog.string_agg(atttypid::pg_catalog.text, ',' order by attnum) "
            + "as oids from pg_catalog.pg_attribute where attrelid = t.typrelid and attnum > 0 and not attisdropped "
            + "and t.typrelid <> 0) a on true where t.oid in (";

    private record Found(int oid, String schema, String name, char kind, int element, char delimiter, int base,
            int subtype, List<String> names, int[] fields, boolean sends, boolean receives) {}

    private final Types types;
    private final Function<String, List<String[]>> query;
    private final Map<Integer, Found> found = new HashMap<>();
    private final Set<Integer> missing = new HashSet<>();

    private Catalog(Types types, Function<String, List<String[]>> query) {
        this.types = types;
        this.query = query;
    }

    /**
     * Looks up those of {@code oids} that are unknown.
     *
     * @param query runs a query and returns its rows as texts
     */
    public static void learn(Types types, Iterable<Integer> oids, Function<String, List<String[]>> query) {
        var catalog = new Catalog(types, query);
        Set<Integer> wanted = new LinkedHashSet<>();
        oids.forEach(wanted::add);
        catalog.fetch(wanted);
        wanted.forEach(oid -> catalog.resolve(oid, 0));
    }

    /** A query for each level: types, then what they are made of. */
    private void fetch(Set<Integer> first) {
        Set<Integer> wanted = new LinkedHashSet<>(first);
        for (int depth = 0; depth < DEPTH_MAX; depth++) {
            wanted.removeIf(oid -> oid == 0 || types.codec(oid) != null || found.containsKey(oid) || !missing.add(oid));
            if (wanted.isEmpty()) {
                return;
            }
            var sql = new StringBuilder(TYPES);
            wanted.forEach(oid -> sql.append(Integer.toUnsignedString(oid)).append(','));
            sql.setCharAt(sql.length() - 1, ')');
            wanted.clear();
            for (String[] row : query.apply(sql.toString())) {
                Found type = read(row);
                found.put(type.oid, type);
                wanted.addAll(List.of(type.element, type.base, type.subtype));
                Arrays.stream(type.fields).forEach(wanted::add);
            }
        }
    }

    private static Found read(String[] row) {
        var names = new ArrayList<String>();
        if (!row[8].isEmpty()) {
            for (String hex : row[8].split(",")) {
                names.add(new String(java.util.HexFormat.of().parseHex(hex), java.nio.charset.StandardCharsets.UTF_8));
            }
        }
        int[] fields = row[9].isEmpty() ? new int[0]
                : Arrays.stream(row[9].split(",")).mapToInt(Integer::parseUnsignedInt).toArray();
        return new Found(oid(row[0]), row[1], row[2], row[3].charAt(0), oid(row[4]), row[5].charAt(0), oid(row[6]),
                oid(row[7]), names, fields, row[10].equals("t"), row[11].equals("t"));
    }

    private static int oid(String text) {
        return Integer.parseUnsignedInt(text);
    }

    private Codec resolve(int oid, int depth) {
        Codec known = types.codec(oid);
        Found type = found.get(oid);
        if (known != null || type == null || depth > DEPTH_MAX) {
            return known;
        }
        Codec codec = types.named(type.schema, type.name);
        if (codec == null && type.kind == 'b') {
            // Only a base type: a composite of the program may have the same name, such as vector.
            codec = Types.extension(type.name);
        }
        if (codec == null) {
            codec = make(type, depth);
        }
        // The server cannot send a type without a send function in binary (42883).
        types.learn(oid, codec.within(type.sends, type.receives));
        return types.codec(oid);
    }

    private Codec make(Found type, int depth) {
        if (type.element != 0) {
            Codec element = resolve(type.element, depth + 1);
            return element == null ? unknown(type) : ArrayType.of(type.name, element, type.element, type.delimiter);
        }
        switch (type.kind) {
            case 'e':
                return TextTypes.text(type.name);
            case 'd':
                Codec base = resolve(type.base, depth + 1);
                return base == null ? unknown(type) : base;
            case 'r', 'm':
                Codec subtype = resolve(type.subtype, depth + 1);
                return subtype == null ? unknown(type) : type.kind == 'r' ? RangeType.range(type.name, subtype)
                        : RangeType.multirange(type.name, subtype);
            case 'c':
                for (int field : type.fields) {
                    resolve(field, depth + 1);
                }
                return CompositeType.of(type.name, type.names, type.fields, types);
            default:
                return unknown(type);
        }
    }

    /** The codec of an unknown type: its text, as a String. */
    private static Codec unknown(Found type) {
        return Codec.textOnly(type.name, text -> text);
    }
}
