package io.github.trunkline.session;

import io.github.trunkline.PostgresException;
import io.github.trunkline.wire.Backend;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** The client's own small queries, by the simple protocol: without parameters, with rows of Strings. */
final class SimpleQuery {
    private SimpleQuery() {}

    static List<String[]> rows(Session session, String sql) {
        session.frontend().query(sql);
        session.send();
        var rows = new ArrayList<String[]>();
        PostgresException error = null;
        while (true) {
            switch (session.receive()) {
                case 'D' -> rows.add(texts(((Backend.DataRow) session.decode()).values()));
                case 'E' -> error = session.error();
                case 'T', 'C', 'I', '3' -> session.decode();
                case 'Z' -> {
                    session.ready();
                    if (error != null) {
                        throw error;
                    }
                    return rows;
                }
                default -> throw session.unexpected("in the answer to a query");
            }
        }
    }

    /** The first column of the first row; empty if there is none. */
    static String value(Session session, String sql) {
        List<String[]> rows = rows(session, sql);
        return rows.isEmpty() || rows.get(0).length == 0 || rows.get(0)[0] == null ? "" : rows.get(0)[0];
    }

    private static String[] texts(List<byte[]> values) {
        var texts = new String[values.size()];
        for (int i = 0; i < texts.length; i++) {
            texts[i] = values.get(i) == null ? null : new String(values.get(i), StandardCharsets.UTF_8);
        }
        return texts;
    }
}
