package io.github.trunkline.net;

import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Closes a socket whose connecting takes longer than it may. Java's own time limits make a socket non-blocking for good:
 * each wait for an answer would then take three system calls (read, poll, read) in place of one.
 */
final class ConnectDeadline {
    private final int milliseconds;
    private final CompletableFuture<Void> end = new CompletableFuture<>();

    /** @param milliseconds from now on; 0 is for ever */
    ConnectDeadline(Socket socket, int milliseconds) {
        this.milliseconds = milliseconds;
        if (milliseconds > 0) {
            end.orTimeout(milliseconds, TimeUnit.MILLISECONDS).whenComplete((nothing, late) -> {
                if (late != null) {
                    SocketTransport.close(socket);
                }
            });
        }
    }

    /** The connection stands: the socket is left alone from now on. */
    void met() throws SocketTimeoutException {
        if (!end.complete(null)) {
            throw passed(null);
        }
    }

    /** What to throw for {@code error}, which connecting ended with: that it took too long, if that is why. */
    IOException explain(IOException error) {
        return end.complete(null) ? error : passed(error);
    }

    private SocketTimeoutException passed(IOException cause) {
        var late = new SocketTimeoutException("no connection within " + milliseconds + " ms");
        late.initCause(cause);
        return late;
    }
}
