package io.github.trunkline.config;

import java.util.Locale;

/** Whether to use TLS, and what to check: libpq's {@code sslmode}. Connections over unix sockets never use TLS. */
public enum SslMode {
    /** No TLS. */
    DISABLE,
    /** Without TLS if the server allows that, else with TLS. */
    ALLOW,
    /** With TLS if the server has it, else without. The default, as libpq's. */
    PREFER,
    /** With TLS. The server's certificate is checked only if a root certificate is given. */
    REQUIRE,
    /** With TLS, and a certificate that the root certificates vouch for. */
    VERIFY_CA,
    /** As {@link #VERIFY_CA}, and the certificate names the host that was asked for. */
    VERIFY_FULL;

    /** Reads libpq's word for it, such as {@code verify-full}. */
    public static SslMode of(String word) {
        try {
            return valueOf(word.toUpperCase(Locale.ROOT).replace('-', '_'));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("sslmode is " + word
                    + "; it can be disable, allow, prefer, require, verify-ca or verify-full");
        }
    }
}
