package io.github.trunkline.session;

import io.github.trunkline.PostgresException;
import io.github.trunkline.ValueException;
import io.github.trunkline.row.Columns;
import io.github.trunkline.row.RowCollector;
import io.github.trunkline.row.Rows;
import io.github.trunkline.type.Decoder;
import io.github.trunkline.wire.Backend;
import io.github.trunkline.wire.ColumnDescription;
import io.github.trunkline.wire.Frontend;
import java.util.List;

/**
 * Runs a statement that is not prepared yet with Parse, Describe, Bind and Execute in one round trip. Its types are unknown
 * then, so parameters and rows are text; later runs are binary.
 */
final class FirstRun {
    private final Session session;
    private final Statements statements;
    private final String sql;
    private final String name;
    private final Answers.Outcome outcome = new Answers.Outcome();
    private int[] parameters = {};
    private List<ColumnDescription> columns;

    FirstRun(Session session, Statements statements, String sql) {
        this.session = session;
        this.statements = statements;
        this.sql = sql;
        this.name = statements.nextName();
    }

    /**
     * True if the values can be sent before their types are known. Strings can: they are sent as text for any type later, too.
     * A number cannot: the client refuses a number for a boolean parameter, but the server would accept its text. Times in
     * text are understood in PostgreSQL's default styles only.
     */
    static boolean suits(Session session, Object[] values) {
        if (!session.parameters().getOrDefault("DateStyle", "").startsWith("ISO")
                || !session.parameters().getOrDefault("IntervalStyle", "").equals("postgres")) {
            return false;
        }
        for (Object value : values) {
            if (value != null && !(value instanceof String)) {
                return false;
            }
        }
        return true;
    }

    /** Runs the statement, and leaves it prepared. */
    Rows run(Object[] values) {
        send(values);
        boolean described = readDescription();
        Rows rows = null;
        if (described) {
            // The decoders are chosen after the answer, since an unknown type needs a query of the catalogue.
            rows = Answers.rows(session, new RowCollector(
                    columns == null ? Answers.NONE : new Columns(columns, new Decoder[columns.size()])), outcome);
        }
        PostgresException failure = null;
        try {
            Answers.ready(session, outcome);
        } catch (PostgresException e) {
            failure = values.length == parameters.length || !described ? e
                    : new ValueException(Prepared.wrongCount(parameters.length, values.length, sql));
        }
        if (described && session.isOpen()) {
            statements.add(sql, name, parameters, columns);
        }
        if (failure != null) {
            throw failure;
        }
        return columns == null ? rows : rows.read(statements.textColumns(columns));
    }

    private void send(Object[] values) {
        Frontend frontend = session.frontend();
        session.put(() -> {
            frontend.parse(name, sql);
            frontend.describe('S', name);
            int mark = frontend.beginBind("", name, new short[0], values.length);
            for (Object value : values) {
                Prepared.putText(frontend.out, value);
            }
            frontend.endBind(mark, new short[0]);
            frontend.execute("", 0);
            frontend.sync();
        });
        session.send();
    }

    /** False if the server refuses the text. */
    private boolean readDescription() {
        while (true) {
            switch (session.receive()) {
                case '1', '3' -> session.decode();
                case 't' -> parameters = ((Backend.ParameterDescription) session.decode()).types();
                case 'T' -> {
                    columns = ((Backend.RowDescription) session.decode()).columns();
                    return true;
                }
                case 'n' -> {
                    session.decode();
                    return true;
                }
                case 'E' -> {
                    outcome.error = Answers.error(session);
                    return false;
                }
                default -> throw session.unexpected("in the answer to Parse and Describe");
            }
        }
    }
}
