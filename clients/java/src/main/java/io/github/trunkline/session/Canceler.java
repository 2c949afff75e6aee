package io.github.trunkline.session;

import io.github.trunkline.net.Dialer;
import io.github.trunkline.net.Transport;
import io.github.trunkline.wire.Frontend;
import io.github.trunkline.wire.Out;
import java.io.IOException;

/** Sends CancelRequests: each on a connection of its own, to the same server, with TLS if the session has it. */
public final class Canceler {
    private static final int TIMEOUT_MILLISECONDS = 5_000;

    private Canceler() {}

    /**
     * Asks the server to cancel what the session is doing. Returns once the server has taken the request; whether it did
     * anything shows in the session only.
     *
     * @return false if the request could not be delivered
     */
    public static boolean cancel(Session session) {
        byte[] key = session.secretKey();
        if (key == null) {
            return false;
        }
        Transport transport = null;
        try {
            transport = Dialer.dial(session.address(), session.config(), session.withTls(), TIMEOUT_MILLISECONDS);
            var out = new Out();
            new Frontend(out).cancelRequest(session.processId(), key);
            transport.write(out.array(), 0, out.size());
            // The server hangs up once the signal is sent.
            transport.readWithin(new byte[1], 0, 1, TIMEOUT_MILLISECONDS);
            return true;
        } catch (IOException e) {
            return false;
        } finally {
            if (transport != null) {
                transport.close();
            }
        }
    }
}
