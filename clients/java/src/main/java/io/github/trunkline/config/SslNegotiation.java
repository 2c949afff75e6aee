package io.github.trunkline.config;

import java.util.Locale;

/** How TLS begins: libpq's {@code sslnegotiation}. */
public enum SslNegotiation {
    /** The client asks the server for TLS first, which costs a round trip. Every server supports this. */
    POSTGRES,
    /**
     * TLS begins at once, and ALPN names the protocol. For PostgreSQL 17 and newer, and only if sslmode demands TLS: without
     * asking first, the client cannot fall back to a connection without TLS.
     */
    DIRECT;

    /** Reads libpq's word for it. */
    public static SslNegotiation of(String word) {
        try {
            return valueOf(word.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("sslnegotiation is " + word + "; it can be postgres or direct");
        }
    }
}
