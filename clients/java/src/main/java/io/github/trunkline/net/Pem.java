package io.github.trunkline.net;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.Collection;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/** Certificates in PEM, as OpenSSL and libpq keep them, and keys that go with them. */
final class Pem {
    private static final char[] NO_PASSWORD = new char[0];

    private Pem() {}

    static TrustManager[] trustManagers(Path file) throws IOException, GeneralSecurityException {
        KeyStore store = emptyStore();
        int number = 0;
        for (Certificate certificate : certificates(file)) {
            store.setCertificateEntry("root" + number++, certificate);
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        return factory.getTrustManagers();
    }

    /** Null where no client certificate is given. */
    static KeyManager[] keyManagers(Path certificate, Path key, String password) throws IOException, GeneralSecurityException {
        if (certificate == null) {
            return null;
        }
        if (key == null) {
            throw new IOException("sslcert is given, but no sslkey");
        }
        KeyStore store = emptyStore();
        store.setKeyEntry("client", PrivateKeys.read(key, password), NO_PASSWORD,
                certificates(certificate).toArray(new Certificate[0]));
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(store, NO_PASSWORD);
        return factory.getKeyManagers();
    }

    private static KeyStore emptyStore() throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }

    private static Collection<? extends Certificate> certificates(Path file)
            throws IOException, GeneralSecurityException {
        try (InputStream in = Files.newInputStream(file)) {
            Collection<? extends Certificate> found = CertificateFactory.getInstance("X.509").generateCertificates(in);
            if (found.isEmpty()) {
                throw new IOException(file + " holds no certificate");
            }
            return found;
        }
    }
}
