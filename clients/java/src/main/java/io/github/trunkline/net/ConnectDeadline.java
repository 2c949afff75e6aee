package io.github.trunkline.net;

import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Closes a socket that takes too long to connect. Java's own time limits would make the socket non-blocking for good, and each
 * wait for an answer would then take three system calls (read, poll, read) instead of one.
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

    /** The socket is connected: the deadline no longer applies. */
    void met() throws SocketTimeoutException {
        if (!end.complete(null)) {
            throw passed(null);
        }
    }

    /** The exception for a connect that failed with {@code error}: that it took too long, if this closed the socket. */
    IOException explain(IOException error) {
        return end.complete(null) ? error : passed(error);
    }

    private SocketTimeoutException passed(IOException cause) {
        var late = new SocketTimeoutException("no connection within " + milliseconds + " ms");
        late.initCause(cause);
        return late;
    }
}
