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

    /** What became of a request. */
    enum Delivery {
        /** It did not reach the server. */
        NONE,
        /** The server has taken it: whatever it does to the session, it has done. */
        TAKEN,
        /** It was sent, and the server did not say that it has come: it may come at any time. */
        UNKNOWN
    }

    /** Asks the server to cancel what the session is doing. Whether that did anything shows in the session only. */
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
            // The server hangs up once the signal is sent.
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
