package io.github.trunkline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.trunkline.row.Row;
import io.github.trunkline.type.Codec;
import io.github.trunkline.type.Composite;
import io.github.trunkline.type.Types;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.BiFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** A statement that was right once, and is refused now through no fault of the program, is prepared or run in another way. */
@EnabledIfEnvironmentVariable(named = Server.VARIABLE, matches = ".+")
@ParameterizedClass
@MethodSource("io.github.trunkline.Server#all")
class MendedStatementsTest {
    /** aclitem has no send function. */
    private static final String NO_BINARY = "select row(1, '=r/postgres'::aclitem) as r, 2 as two";
    private static final List<BiFunction<Connection, String, Row>> WAYS = List.of(
            (connection, sql) -> connection.query(sql).one(),
            (connection, sql) -> connection.reduce(Query.of(sql), (Row) null, (last, row) -> row),
            (connection, sql) -> connection.pipeline(List.of(Query.of("select 1"), Query.of(sql), Query.of("select 2")))
                    .get(1).one());

    private final Server server;
    private final Connection connection;

    MendedStatementsTest(Server server) {
        this.server = server;
        this.connection = server.connect();
    }

    @AfterEach
    void close() {
        connection.close();
    }

    @Test
    void aTableThatHasChanged() {
        for (var way : WAYS) {
            connection.script("drop table if exists mended; create table mended (a int); insert into mended values (1)");
            assertEquals("{a: 1}", way.apply(connection, "select * from mended").toString());
            connection.script("alter table mended add b text default 'x'");
            assertEquals("{a: 1, b: x}", way.apply(connection, "select * from mended").toString());
        }
        connection.script("drop table mended");
    }

    @Test
    void aTableThatHasChangedWithinATransaction() {
        for (var way : WAYS) {
            connection.script("drop table if exists amended; create table amended (a int); insert into amended values (1)");
            assertEquals("{a: 1}", way.apply(connection, "select * from amended").toString());
            connection.script("alter table amended add b text default 'x'");
            try {
                connection.transaction(tx -> way.apply(tx, "select * from amended"));
            } catch (PostgresException e) {
                // The transaction has failed; the proxy prepares anew by itself.
                assertEquals("0A000", e.sqlState());
            }
            assertEquals("{a: 1, b: x}",
                    connection.transaction(tx -> way.apply(tx, "select * from amended")).toString());
        }
        connection.script("drop table amended");
    }

    @Test
    void aTypeWithoutASendFunctionWithinARecord() {
        for (var way : WAYS) {
            try (Connection fresh = server.connect()) {
                for (int run = 0; run < 2; run++) {
                    Row row = way.apply(fresh, NO_BINARY);
                    assertEquals(List.of("1", "=r/postgres"), row.get(0, Composite.class).values());
                    assertEquals(2, row.getInt(1));
                    // The other column is in binary as ever.
                    assertEquals(4, row.getRaw(1).length);
                }
            }
        }
        try (Connection fresh = server.connect()) {
            var refused = assertThrows(ServerException.class, () -> fresh.transaction(tx -> tx.query(NO_BINARY)));
            assertEquals("42883", refused.sqlState());
            assertEquals(2, fresh.transaction(tx -> tx.query(NO_BINARY)).one().getInt(1));
        }
    }

    @Test
    void aTypeWithoutASendFunctionThatTheProgramReads() {
        var codec = new Codec("aclitem", (bytes, at, length) -> "binary",
                (bytes, at, length) -> "text " + new String(bytes, at, length, StandardCharsets.UTF_8), null);
        try (Connection own = Connection.connect(server.builder().build(), new Types().register(1033, codec))) {
            Row row = own.query("select '=r/postgres'::aclitem, array['=r/postgres'::aclitem], 3").one();
            assertEquals("text =r/postgres", row.get(0));
            assertEquals(List.of("text =r/postgres"), row.get(1));
            assertEquals(4, row.getRaw(2).length);
        }
    }

    @Test
    void whatTheProgramItselfGotWrongIsNotRunAgain() {
        connection.script("drop table if exists once; create table once (i int)");
        assertEquals("42883", assertThrows(ServerException.class, () -> connection.query("select nothing()")).sqlState());
        // The pipeline's first statement takes effect at once, so that it is not run a second time.
        connection.query("select * from once");
        connection.script("alter table once add j int");
        var kept = assertThrows(PipelineException.class, () -> connection.pipeline(List.of(Query.of("begin"),
                Query.of("insert into once values (1)"), Query.of("commit"), Query.of("select * from once"))));
        assertEquals("0A000", kept.sqlState());
        assertEquals(1, connection.query("select count(*) from once").one().getLong(0));
        assertFalse(connection.inTransaction());
        connection.script("drop table once");
    }

    /** The message that closes a statement goes with the next turn, whatever kind of turn that is. */
    @Test
    void statementsThatAreClosedBeforeATurnOfAnotherKind() {
        List<Query> wrong = List.of(Query.of("select 1 as good"), Query.of("selec"));
        assertThrows(ServerException.class, () -> connection.transaction(tx -> tx.pipeline(wrong)));
        assertEquals(1, connection.script("select 1").size());
        assertThrows(ServerException.class, () -> connection.pipeline(wrong));
        connection.copyOut("copy (select 1) to stdout").rows(new int[] {23}, row -> assertEquals(1, row[0]));
        assertThrows(ServerException.class, () -> connection.pipeline(wrong));
        assertEquals(List.of(1, 2), connection.query("select array[1, 2]").one().get(0));
        assertThrows(ServerException.class, () -> connection.pipeline(wrong));
        assertEquals(1, connection.query("select (c.*)::text from pg_class c where relname = 'pg_class'").size());
    }
}
