package io.github.trunkline;

import static io.github.trunkline.ScriptedServer.complete;
import static io.github.trunkline.ScriptedServer.concat;
import static io.github.trunkline.ScriptedServer.described;
import static io.github.trunkline.ScriptedServer.error;
import static io.github.trunkline.ScriptedServer.message;
import static io.github.trunkline.ScriptedServer.ready;
import static io.github.trunkline.ScriptedServer.row;
import static io.github.trunkline.ScriptedServer.text;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.trunkline.copy.CopyOut;
import io.github.trunkline.row.Row;
import io.github.trunkline.row.Rows;
import io.github.trunkline.wire.Out;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a wrong or dying server says ends in a clear exception, with the connection usable or closed. */
class BadServerTest {
    private static final byte[] BOUND = message('2', new Out());
    private static final byte[] ONE = {0, 0, 0, 1};

    /** The query's answer breaks the protocol, or ends: the exception is of that class, and the connection is closed. */
    private static PostgresException breaks(Class<? extends PostgresException> kind, byte[]... answer) throws IOException {
        try (var server = new ScriptedServer(described(23, 25), concat(answer));
                Connection connection = Connection.connect(server.config())) {
            PostgresException error = assertThrows(kind, () -> connection.query("select"));
            assertFalse(connection.isOpen());
            var after = assertThrows(ConnectionException.class, () -> connection.query("select"));
            assertTrue(after.getMessage().contains("closed"), after.getMessage());
            breaksWhileDecoding(kind, answer);
            return error;
        }
    }

    /** The same where values are decoded while they come. */
    private static void breaksWhileDecoding(Class<? extends PostgresException> kind, byte[]... answer) throws IOException {
        try (var server = new ScriptedServer(described(23, 25), concat(answer));
                Connection connection = Connection.connect(server.config())) {
            assertThrows(kind, () -> connection.queryValues("select"));
            assertFalse(connection.isOpen());
        }
    }

    @Test
    void aRowWithAnotherCount() throws IOException {
        byte[] two = row(ONE, text("x"));
        breaks(ProtocolException.class, BOUND, row(ONE), complete("SELECT 1"), ready('I'));
        breaks(ProtocolException.class, BOUND, two, row(ONE, text("x"), text("y")), complete("SELECT 2"), ready('I'));
        breaks(ProtocolException.class, BOUND, message('D', new Out()));
        var error = breaks(ProtocolException.class, BOUND, two, two, row(ONE), complete("SELECT 3"), ready('I'));
        assertEquals("08P01", error.sqlState());
        assertTrue(error.getMessage().contains("1 values for 2 columns"), error.getMessage());
    }

    /** Where such a row ends is known, so the connection goes on; no reader gives anything of what lies outside of it. */
    @Test
    void aRowWithWrongLengths() throws IOException {
        var bodies = List.of(
                new Out().int16(2).int32(4).int32(1).int32(Integer.MAX_VALUE),
                new Out().int16(2).int32(4).int32(1).int32(1),
                new Out().int16(2).int32(-2).int32(1).int32(0),
                new Out().int16(2).int32(Integer.MIN_VALUE).int32(1).int32(0),
                new Out().int16(2).int32(100).int32(1).int32(0),
                new Out().int16(2).int32(-1).int16(0),
                new Out().int16(2).int32(4).int32(1).int16(0),
                new Out().int16(2),
                // Back to the first length, and from there to the end.
                new Out().int16(2).int32(-4).int32(1),
                new Out().int16(2).int32(-1).int32(-1).int8(0));
        var answer = new Out().bytes(BOUND);
        bodies.forEach(body -> answer.bytes(message('D', body)));
        answer.bytes(row(ONE, text("x"))).bytes(complete("SELECT")).bytes(ready('I'));
        try (var server = new ScriptedServer(described(23, 25), Arrays.copyOf(answer.array(), answer.size()),
                concat(BOUND, row(ONE, text("y")), complete("SELECT 1"), ready('I')));
                Connection connection = Connection.connect(server.config())) {
            Rows rows = connection.query("select");
            for (int i = 0; i < bodies.size(); i++) {
                Row row = rows.get(i);
                var error = assertThrows(ProtocolException.class, row::values, "row " + i);
                assertEquals("08P01", error.sqlState());
                assertTrue(error.getMessage().contains("at byte"), error.getMessage());
                assertThrows(ProtocolException.class, row::toString);
                assertThrows(ProtocolException.class, () -> row.detach().values());
                if (i < bodies.size() - 1) {
                    assertThrows(ProtocolException.class, () -> row.get(1));
                    assertThrows(ProtocolException.class, () -> row.getString(1));
                    assertThrows(ProtocolException.class, () -> row.isNull(1));
                    assertThrows(ProtocolException.class, () -> row.getRaw(1));
                }
            }
            assertEquals("{c0: 1, c1: x}", rows.get(bodies.size()).toString());
            assertEquals("{c0: 1, c1: y}", connection.query("select").one().toString());
        }
    }

    /** Values that are decoded while they come: the answer is read to its end before the exception is thrown. */
    @Test
    void aRowWithWrongLengthsWhileDecoding() throws IOException {
        byte[] wrong = message('D', new Out().int16(2).int32(100).int32(1).int32(0));
        byte[] good = row(ONE, text("x"));
        try (var server = new ScriptedServer(described(23, 25),
                concat(BOUND, good, wrong, good, complete("SELECT 3"), ready('I')),
                concat(BOUND, good, complete("SELECT 1"), ready('I')));
                Connection connection = Connection.connect(server.config())) {
            var error = assertThrows(ProtocolException.class, () -> connection.queryValues("select"));
            assertTrue(error.getMessage().contains("value 0 has length 100"), error.getMessage());
            assertArrayEquals(new Object[] {1, "x"}, connection.queryValues("select").rows()[0]);
        }
    }

    @Test
    void messagesThatDoNotBelong() throws IOException {
        breaks(ProtocolException.class, BOUND, row(ONE, text("x")), ready('I'));
        breaks(ProtocolException.class, BOUND, message('T', new Out().int16(0)));
        breaks(ProtocolException.class, BOUND, message('R', new Out().int32(0)));
        breaks(ProtocolException.class, message('y', new Out()));
        breaks(ProtocolException.class, BOUND, new byte[] {'D', 0, 0, 0, 3});
        breaks(ProtocolException.class, BOUND, new byte[] {'D', (byte) 0x80, 0, 0, 0});
        breaks(ProtocolException.class, BOUND, complete("SELECT 0"), message('Z', new Out().int8('X')));
        breaks(ProtocolException.class, text("HTTP/1.1 400 Bad Request\r\n\r\n"));
    }

    @Test
    void aServerThatDies() throws IOException {
        breaks(ConnectionException.class);
        breaks(ConnectionException.class, BOUND, row(ONE, text("x")));
        byte[] cut = row(ONE, text("cut"));
        breaks(ConnectionException.class, BOUND, row(ONE, text("x")), java.util.Arrays.copyOf(cut, cut.length - 1));
        // A length of a gigabyte, and nothing behind it.
        breaks(ConnectionException.class, BOUND, new byte[] {'D', 0x3f, (byte) 0xff, (byte) 0xff, 0});
        var fatal = breaks(ServerException.class, BOUND, row(ONE, text("x")), error("FATAL", "57P01"));
        assertEquals("57P01", fatal.sqlState());
    }

    @Test
    void aServerThatDiesInAStreamOrACopy() throws IOException {
        try (var server = new ScriptedServer(described(23), concat(BOUND, row(ONE), row(ONE)));
                Connection connection = Connection.connect(server.config())) {
            RowStream rows = connection.stream("select");
            assertEquals(1, rows.next().getInt(0));
            assertEquals(1, rows.next().getInt(0));
            assertThrows(ConnectionException.class, rows::hasNext);
            assertFalse(rows.hasNext());
            rows.close();
            assertFalse(connection.isOpen());
            assertThrows(ConnectionException.class, () -> connection.query("select"));
        }
        byte[] begun = concat(message('H', new Out().int8(0).int16(0)), message('d', new Out().text("1\n")));
        try (var server = new ScriptedServer(begun); Connection connection = Connection.connect(server.config())) {
            CopyOut out = connection.copyOut("copy");
            assertArrayEquals(text("1\n"), new byte[] {(byte) out.read(), (byte) out.read()});
            assertThrows(ConnectionException.class, out::read);
            assertEquals(-1, out.read());
            assertFalse(connection.isOpen());
        }
    }

    @Test
    void anErrorAmongTheRowsLeavesTheConnectionUsable() throws IOException {
        try (var server = new ScriptedServer(described(23, 25),
                concat(BOUND, row(ONE, text("x")), error("ERROR", "22012"), ready('I')),
                concat(BOUND, row(ONE, null), complete("SELECT 1"), ready('I')),
                concat(BOUND, complete("SELECT 0"), error("ERROR", "23503"), ready('I')));
                Connection connection = Connection.connect(server.config())) {
            assertEquals("22012", assertThrows(ServerException.class, () -> connection.query("select")).sqlState());
            assertEquals("{c0: 1, c1: null}", connection.query("select").one().toString());
            // A deferred constraint fails after CommandComplete.
            assertEquals("23503", assertThrows(ServerException.class, () -> connection.query("select")).sqlState());
            assertTrue(connection.isOpen());
        }
    }

    @Test
    void valuesThatAreNoneLeaveTheConnectionUsable() throws IOException {
        try (var server = new ScriptedServer(described(23, 25, 99_999), concat(ready('I')),
                concat(BOUND, row(new byte[3], new byte[] {'a', (byte) 0xff}, text("unknown")), complete("SELECT 1"),
                        ready('I')));
                Connection connection = Connection.connect(server.config())) {
            Row row = connection.query("select").one();
            var error = assertThrows(ValueException.class, () -> row.get(0));
            assertTrue(error.getMessage().contains("c0") && error.getMessage().contains("3 bytes"), error.getMessage());
            assertThrows(ValueException.class, () -> row.getLong(0));
            var broken = assertThrows(ValueException.class, () -> row.getString(1));
            assertTrue(broken.getMessage().contains("from byte 1 of 2"), broken.getMessage());
            assertThrows(ValueException.class, () -> row.get(1));
            assertArrayEquals(new byte[] {'a', (byte) 0xff}, row.getRaw(1));
            // A type that the catalogue does not know either is its text.
            assertEquals("unknown", row.get(2));
            assertTrue(connection.isIdle());
        }
    }

    @Test
    void aNewTextTakesOneRoundTripIfItMay() throws IOException {
        byte[] described = described(23, 25);
        // Without the ReadyForQuery at its end.
        byte[] both = concat(Arrays.copyOf(described, described.length - ready('I').length), BOUND, row(text("1"), text("x")),
                complete("SELECT 1"), ready('I'));
        try (var server = new ScriptedServer(both, concat(BOUND, row(ONE, text("y")), complete("SELECT 1"), ready('I')));
                Connection connection = Connection.connect(server.config().toBuilder().textFirst(true).build())) {
            assertEquals("{c0: 1, c1: x}", connection.query("select").one().toString());
            assertEquals(1, server.answered());
            assertEquals("{c0: 1, c1: y}", connection.query("select").one().toString());
        }
    }

    @Test
    void aNoticesListenerThatThrows() throws IOException {
        byte[] notice = message('N', new Out().int8('M').cString("remark").int8(0));
        Thread.UncaughtExceptionHandler before = Thread.currentThread().getUncaughtExceptionHandler();
        Thread.currentThread().setUncaughtExceptionHandler((thread, error) -> {});
        try (var server = new ScriptedServer(described(23), concat(BOUND, notice, row(ONE), complete("SELECT 1"), ready('I')));
                Connection connection = Connection.connect(server.config())) {
            connection.onNotice(remark -> {
                throw new IllegalStateException("the listener's own");
            });
            assertEquals(1, connection.query("select").one().getInt(0));
        } finally {
            Thread.currentThread().setUncaughtExceptionHandler(before);
        }
    }
}
