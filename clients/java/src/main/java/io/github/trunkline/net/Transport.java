package io.github.trunkline.net;

import java.io.IOException;
import java.security.cert.X509Certificate;

/** A stream of bytes to a server. One thread reads and writes; any thread may {@link #close}, which ends both. */
public interface Transport {
    /** Reads at least one byte, or returns -1 at the end. */
    int read(byte[] bytes, int offset, int length) throws IOException;

    /** As {@link #read}, but returns 0 if nothing has come after {@code milliseconds}. */
    int readWithin(byte[] bytes, int offset, int length, int milliseconds) throws IOException;

    /** Writes all of it. */
    void write(byte[] bytes, int offset, int length) throws IOException;

    /** The server's certificate; null without TLS. */
    X509Certificate serverCertificate();

    /** Ends the stream. Reads and writes under way in other threads fail. */
    void close();
}
