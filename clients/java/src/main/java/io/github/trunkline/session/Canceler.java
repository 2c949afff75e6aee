package io.github.trunkline.session;

import io.github.trunkline.net.Dialer;
import io.github.trunkline.net.Transport;
import io.github.trunkline.wire.Frontend;
import io.github.trunkline.wire.Out;
import java.io.IOException;

/** Sends CancelRequests: each on a connection of its own, to the same server, with TLS if the session has it. */
final class Canceler {
    private static final int CONNECT_MILLISECONDS = 5_000;
    private static final int CONFIRM_MILLISECONDS = 10_000;

    private Canceler() {}

    /** Whether a request reached the server. */
    enum Delivery {
        /** It did not reach the server. */
        NONE,
        /** The server has handled it: it has no effect later on. */
        TAKEN,
        /** It was sent, but the server did not confirm it: it may take effect at any time. */
        UNKNOWN
    }

    /** Asks the server to cancel the session's query. Only the session shows whether that had an effect. */
    static Delivery cancel(Session session) {
        byte[] key = session.secretKey();
        if (key == null) {
            return Delivery.NONE;
        }
        Transport transport = null;
        boolean sent = false;
        try {
            transport = Dialer.dial(session.address(), session.config(), session.withTls(), CONNECT_MILLISECONDS);
            var out = new Out();
            new Frontend(out).cancelRequest(session.processId(), key);
            sent = true;
            transport.write(out.array(), 0, out.size());
            // The server closes the connection once it has sent the signal.
            return transport.readWithin(new byte[1], 0, 1, CONFIRM_MILLISECONDS) == 0 ? Delivery.UNKNOWN : Delivery.TAKEN;
        } catch (IOException e) {
            return sent ? Delivery.UNKNOWN : Delivery.NONE;
        } finally {
            if (transport != null) {
                transport.close();
            }
        }
    }
}
