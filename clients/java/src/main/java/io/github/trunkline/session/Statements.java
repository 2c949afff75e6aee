package io.github.trunkline.session;

import io.github.trunkline.PostgresException;
import io.github.trunkline.ServerException;
import io.github.trunkline.row.Columns;
import io.github.trunkline.type.Catalog;
import io.github.trunkline.type.Codec;
import io.github.trunkline.type.Decoder;
import io.github.trunkline.type.Types;
import io.github.trunkline.wire.Backend;
import io.github.trunkline.wire.ColumnDescription;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A session's prepared statements by their text. Their number and the length of their texts are limited; the least recently
 * used go first.
 */
public final class Statements {
    /** The texts of all statements together. Texts of inserts of many rows are long, and seldom used again. */
    static final long CHARACTERS_MAX = 4_000_000;

    private final Session session;
    private final Types types;
    private final int max;
    private final LinkedHashMap<String, Prepared> byText = new LinkedHashMap<>(16, 0.75f, true);
    private long number;
    private long characters;

    /** The server's description of a statement, before its types are looked up. */
    private record Described(String name, String sql, int[] parameters, List<ColumnDescription> columns) {}

    Statements(Session session, Types types) {
        this.session = session;
        this.types = types;
        this.max = session.config().statementsMax();
    }

    /** How many there are. */
    public int size() {
        return byText.size();
    }

    /** The statement of a text, if it is prepared; else null. */
    Prepared known(String sql) {
        return byText.get(sql);
    }

    /** True if the text is prepared. */
    boolean has(String sql) {
        return byText.containsKey(sql);
    }

    String nextName() {
        return "tl" + number++;
    }

    /** Adds a statement that is prepared and described. In a failed transaction its types cannot be looked up; it may go. */
    void add(String sql, String name, int[] parameters, List<ColumnDescription> columns) {
        var described = new Described(name, sql, parameters, columns);
        if (session.status() == 'E' && !unknown(List.of(described)).isEmpty()) {
            session.frontend().close('S', name);
            return;
        }
        keep(makeAll(List.of(described)).get(0));
        trim(1);
    }

    /** Columns that come in text. */
    Columns textColumns(List<ColumnDescription> descriptions) {
        return textColumns(descriptions, types);
    }

    /** The statement of a text: a kept one, or one prepared now, which costs a round trip. */
    Prepared get(String sql) {
        Prepared known = current(sql);
        return known != null ? known : prepareAll(List.of(sql)).get(sql);
    }

    /** The kept statement of a text; null if there is none, or its types are out of date and it can be prepared again. */
    private Prepared current(String sql) {
        Prepared known = byText.get(sql);
        if (known != null && !known.isCurrent() && session.status() != 'E') {
            forget(known);
            return null;
        }
        return known;
    }

    /** The statements of several texts; all new ones are prepared in one round trip. */
    Map<String, Prepared> getAll(Collection<String> texts) {
        var statements = new LinkedHashMap<String, Prepared>();
        var missing = new LinkedHashSet<String>();
        for (String sql : texts) {
            Prepared known = current(sql);
            if (known == null) {
                missing.add(sql);
            } else {
                statements.put(sql, known);
            }
        }
        if (!missing.isEmpty()) {
            statements.putAll(prepareAll(missing));
        }
        return statements;
    }

    /** Forgets a statement that the server no longer has or no longer runs. */
    void forget(Prepared statement) {
        if (byText.remove(statement.sql()) != null) {
            characters -= statement.sql().length();
        }
        session.frontend().close('S', statement.name());
    }

    /**
     * Repairs a statement that the server refused to run, if that is possible.
     *
     * @return true if its text may succeed when it runs again
     */
    boolean mend(Prepared statement, ServerException refusal) {
        if (isStale(refusal)) {
            forget(statement);
            return true;
        }
        Prepared inText = hasNoBinary(refusal) ? statement.inText() : statement;
        byText.replace(statement.sql(), inText);
        return inText != statement;
    }

    /**
     * True if the statement itself is out of date: a table it reads was changed ("cached plan must not change result
     * type"), or DISCARD or DEALLOCATE has dropped it.
     */
    private static boolean isStale(ServerException error) {
        return error.sqlState().equals("26000") || error.sqlState().equals("0A000") && isFrom(error, "RevalidateCachedQuery");
    }

    /** True if a value, or a field of an anonymous record, has a type without a send function. */
    private static boolean hasNoBinary(ServerException error) {
        return error.sqlState().equals("42883") && isFrom(error, "getTypeBinaryOutputInfo");
    }

    /** The name of the server's routine, unlike its message, is not translated. */
    private static boolean isFrom(ServerException error, String routine) {
        return error.fields().text('R').filter(routine::equals).isPresent();
    }

    /** Forgets all: the server was told DISCARD ALL or DEALLOCATE ALL. */
    void clear() {
        byText.clear();
        characters = 0;
    }

    private void keep(Prepared statement) {
        if (byText.put(statement.sql(), statement) == null) {
            characters += statement.sql().length();
        }
    }

    /** Closes the surplus statements with the next turn's messages. Keeps the {@code kept} newest ones. */
    void trim(int kept) {
        var eldest = byText.values().iterator();
        while (byText.size() > kept && (byText.size() > max || characters > CHARACTERS_MAX)) {
            Prepared statement = eldest.next();
            session.frontend().close('S', statement.name());
            characters -= statement.sql().length();
            eldest.remove();
        }
    }

    private Map<String, Prepared> prepareAll(Collection<String> texts) {
        var names = new ArrayList<String>();
        for (String sql : texts) {
            names.add(nextName());
        }
        session.put(() -> {
            int index = 0;
            for (String sql : texts) {
                session.frontend().parse(names.get(index), sql);
                session.frontend().describe('S', names.get(index++));
            }
        });
        session.frontend().sync();
        session.send();
        var statements = new LinkedHashMap<String, Prepared>();
        for (Prepared statement : makeAll(readDescriptions(texts, names))) {
            statements.put(statement.sql(), statement);
            keep(statement);
        }
        trim(texts.size());
        return statements;
    }

    private List<Prepared> makeAll(List<Described> described) {
        List<Prepared> made;
        do {
            learn(described);
            made = described.stream().map(this::make).toList();
            // Another connection may have forgotten the types meanwhile.
        } while (!made.stream().allMatch(Prepared::isCurrent));
        return made;
    }

    private List<Described> readDescriptions(Collection<String> texts, List<String> names) {
        var described = new ArrayList<Described>();
        var texts2 = texts.iterator();
        int[] parameters = new int[0];
        PostgresException error = null;
        while (true) {
            switch (session.receive()) {
                case '1', '3' -> session.decode();
                case 't' -> parameters = ((Backend.ParameterDescription) session.decode()).types();
                case 'T' -> described.add(new Described(names.get(described.size()), next(texts2), parameters,
                        ((Backend.RowDescription) session.decode()).columns()));
                case 'n' -> described.add(new Described(names.get(described.size()), next(texts2), parameters, null));
                case 'E' -> error = Answers.error(session);
                case 'Z' -> {
                    session.ready();
                    if (error != null) {
                        // The statements before the wrong one exist at the server, but nothing will use them.
                        described.forEach(statement -> session.frontend().close('S', statement.name));
                        throw error;
                    }
                    if (described.size() != names.size()) {
                        throw session.unexpected("before every statement was described");
                    }
                    return described;
                }
                default -> throw session.unexpected("in the answer to Parse and Describe");
            }
        }
    }

    private String next(java.util.Iterator<String> texts) {
        if (!texts.hasNext()) {
            throw session.unexpected("after every statement was described");
        }
        return texts.next();
    }

    private Set<Integer> unknown(List<Described> described) {
        var unknown = new LinkedHashSet<Integer>();
        for (Described statement : described) {
            for (int oid : statement.parameters) {
                unknown.add(oid);
            }
            if (statement.columns != null) {
                statement.columns.forEach(column -> unknown.add(column.typeOid()));
            }
        }
        unknown.removeIf(oid -> types.codec(oid) != null);
        return unknown;
    }

    private void learn(List<Described> described) {
        Set<Integer> unknown = unknown(described);
        // In a failed transaction the catalogue cannot be queried, but no statement can be prepared there either.
        if (!unknown.isEmpty()) {
            Catalog.learn(types, unknown, sql -> SimpleQuery.rows(session, sql));
        }
    }

    private Prepared make(Described statement) {
        int version = types.version();
        var parameters = new Codec[statement.parameters.length];
        for (int i = 0; i < parameters.length; i++) {
            parameters[i] = types.codec(statement.parameters[i]);
        }
        var results = new Codec[statement.columns == null ? 0 : statement.columns.size()];
        for (int i = 0; i < results.length; i++) {
            results[i] = codec(statement.columns.get(i), types);
        }
        return new Prepared(statement.sql, statement.name, statement.parameters, parameters, statement.columns, results,
                types, version);
    }

    /** A type that not even the catalogue knows is read as its text. */
    private static Codec codec(ColumnDescription column, Types types) {
        Codec codec = types.codec(column.typeOid());
        return codec == null ? Codec.textOnly("unknown", text -> text) : codec;
    }

    /** Columns that come in text. */
    static Columns textColumns(List<ColumnDescription> descriptions, Types types) {
        var decoders = new Decoder[descriptions.size()];
        for (int i = 0; i < decoders.length; i++) {
            decoders[i] = codec(descriptions.get(i), types).text();
        }
        return new Columns(descriptions, decoders);
    }
}
