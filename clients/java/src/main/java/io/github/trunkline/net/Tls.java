package io.github.trunkline.net;

import io.github.trunkline.config.Config;
import io.github.trunkline.config.SslMode;
import java.io.IOException;
import java.net.Socket;
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
    private final SSLContext context;
    private final boolean verifiesHost;

    /** @throws IOException if a certificate or key cannot be read */
    Tls(Config config) throws IOException {
        SslMode mode = config.sslMode();
        verifiesHost = mode == SslMode.VERIFY_FULL;
        Path root = config.sslRootCertificate();
        boolean verifies = verifiesHost || mode == SslMode.VERIFY_CA || mode == SslMode.REQUIRE && root != null;
        try {
            context = SSLContext.getInstance("TLS");
            context.init(Pem.keyManagers(config.sslCertificate(), config.sslKey()),
                    verifies ? trusted(root) : new TrustManager[] {new Anyone()}, null);
        } catch (GeneralSecurityException e) {
            throw new IOException("TLS cannot be set up: " + e.getMessage(), e);
        }
    }

    /** libpq's word {@code system}, and no word at all, stand for what this JVM trusts. */
    private static TrustManager[] trusted(Path root) throws IOException, GeneralSecurityException {
        return root == null || root.toString().equals("system") ? null : Pem.trustManagers(root);
    }

    SSLSocket handshake(Socket socket, String host, int port) throws IOException {
        var secure = (SSLSocket) context.getSocketFactory().createSocket(socket, host, port, true);
        if (verifiesHost) {
            SSLParameters parameters = secure.getSSLParameters();
            // The rules of HTTPS: names in subjectAltName, addresses too, wildcards in the leftmost label.
            parameters.setEndpointIdentificationAlgorithm("HTTPS");
            secure.setSSLParameters(parameters);
        }
        secure.startHandshake();
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
