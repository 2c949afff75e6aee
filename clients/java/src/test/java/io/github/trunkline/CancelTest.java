package io.github.trunkline;

import static io.github.trunkline.ScriptedServer.complete;
import static io.github.trunkline.ScriptedServer.concat;
import static io.github.trunkline.ScriptedServer.described;
import static io.github.trunkline.ScriptedServer.message;
import static io.github.trunkline.ScriptedServer.ready;
import static io.github.trunkline.ScriptedServer.row;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.trunkline.wire.Out;
import java.io.IOException;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

/** A cancel request goes beside the session and names no query: it must not hit the next one. */
class CancelTest {
    private static final byte[] ANSWER = concat(message('2', new Out()), row(new byte[] {0, 0, 0, 1}), complete("SELECT 1"),
            ready('I'));

    @Test
    void noQueryBeginsWhileACancelRequestIsUnderWay() throws Exception {
        try (var server = new ScriptedServer(described(23), ANSWER, ANSWER);
                Connection connection = Connection.connect(server.config())) {
            connection.query("select");
            var request = CompletableFuture.supplyAsync(connection::cancel);
            Socket taken = server.cancel();
            var next = new Thread(() -> connection.query("select"));
            next.start();
            while (next.isAlive() && next.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
            assertEquals(2, server.answered());
            taken.close();
            assertTrue(request.get());
            next.join();
            assertEquals(3, server.answered());
            assertTrue(connection.isOpen());
        }
    }

    @Test
    void aRequestOfWhichNobodyKnowsWhetherItComesEndsTheConnection() throws IOException, InterruptedException,
            ExecutionException {
        try (var server = new ScriptedServer(described(23), ANSWER, ANSWER);
                Connection connection = Connection.connect(server.config())) {
            connection.query("select");
            var request = CompletableFuture.supplyAsync(connection::cancel);
            Socket taken = server.cancel();
            // So that the close is a reset: the request may lie unread somewhere.
            taken.setSoLinger(true, 0);
            taken.close();
            assertFalse(request.get());
            var error = assertThrows(ConnectionException.class, () -> connection.query("select"));
            assertTrue(error.getMessage().contains("cancel request"), error.getMessage());
            assertFalse(connection.isOpen());
            assertEquals(2, server.answered());
        }
    }
}
