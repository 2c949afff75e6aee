package io.github.trunkline.net;

import io.github.trunkline.config.Config;
import io.github.trunkline.config.SslMode;
import io.github.trunkline.config.SslNegotiation;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/** TLS as the configuration asks for it. */
final class Tls {
    /** PostgreSQL's name among the protocols of IANA's list "TLS ALPN Protocol IDs". */
    private static final String ALPN = "postgresql";

    private final SSLContext context;
    private final boolean direct;
    private final boolean verifiesHost;

    /** @throws IOException if a certificate or key cannot be read */
    Tls(Config config) throws IOException {
        SslMode mode = config.sslMode();
        verifiesHost = mode == SslMode.VERIFY_FULL;
        direct = config.sslNegotiation() == SslNegotiation.DIRECT;
        Path root = config.sslRootCertificate() != null ? config.sslRootCertificate() : usualRoot();
        boolean verifies = verifiesHost || mode == SslMode.VERIFY_CA || mode == SslMode.REQUIRE && root != null;
        try {
            context = SSLContext.getInstance("TLS");
            context.init(Pem.keyManagers(config.sslCertificate(), config.sslKey(), config.sslPassword()),
                    verifies ? trusted(root) : new TrustManager[] {new Anyone()}, null);
        } catch (GeneralSecurityException e) {
            throw new IOException("TLS cannot be set up: " + e.getMessage(), e);
        }
    }

    /** libpq's default file of root certificates, which then also apply to sslmode require; null if it does not exist. */
    private static Path usualRoot() {
        Path file = Path.of(System.getProperty("user.home"), ".postgresql", "root.crt");
        return Files.isReadable(file) ? file : null;
    }

    /** libpq's word {@code system}, and no setting at all, stand for the certificates that this JVM trusts. */
    private static TrustManager[] trusted(Path root) throws IOException, GeneralSecurityException {
        return root == null || root.toString().equals("system") ? null : Pem.trustManagers(root);
    }

    SSLSocket handshake(Socket socket, String host, int port) throws IOException {
        var secure = (SSLSocket) context.getSocketFactory().createSocket(socket, host, port, true);
        SSLParameters parameters = secure.getSSLParameters();
        if (verifiesHost) {
            // The rules of HTTPS: names in subjectAltName, addresses too, wildcards in the leftmost label.
            parameters.setEndpointIdentificationAlgorithm("HTTPS");
        }
        if (direct) {
            parameters.setApplicationProtocols(new String[] {ALPN});
        }
        secure.setSSLParameters(parameters);
        secure.startHandshake();
        if (direct && !ALPN.equals(secure.getApplicationProtocol())) {
            // Else an attacker could redirect the connection to a server of another protocol.
            throw new IOException("the server speaks TLS, but did not say by ALPN that it is PostgreSQL");
        }
        return secure;
    }

    /** sslmode prefer and require encrypt, but do not ask who the server is: libpq's rule. */
    private static final class Anyone extends X509ExtendedTrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
