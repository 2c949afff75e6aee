package io.github.trunkline.config;

import java.util.Locale;

/** How TLS begins: libpq's {@code sslnegotiation}. */
public enum SslNegotiation {
    /** PostgreSQL is asked for it first, which costs a round trip. Every server knows that. */
    POSTGRES,
    /**
     * At once, with the protocol named by ALPN: servers from PostgreSQL 17 on. Only where sslmode demands TLS, since the way
     * back to a connection without it is the question that is left out.
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
