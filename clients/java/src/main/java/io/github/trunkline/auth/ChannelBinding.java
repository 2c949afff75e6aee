package io.github.trunkline.auth;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.cert.CertificateEncodingException;
import java.security.cert.X509Certificate;
import java.util.Locale;

/** The binding "tls-server-end-point" of RFC 5929: a hash of the server's certificate. */
public final class ChannelBinding {
    private ChannelBinding() {}

    /**
     * The hash, by the function that signed the certificate, with SHA-256 in the place of MD5 and SHA-1; null where the
     * signature names no hash (Ed25519), for which the RFC defines no binding.
     */
    public static byte[] endPoint(X509Certificate certificate) {
        String signature = certificate.getSigAlgName().toUpperCase(Locale.ROOT);
        int with = signature.indexOf("WITH");
        if (with <= 0) {
            return null;
        }
        String hash = switch (signature.substring(0, with)) {
            case "MD5", "SHA1", "SHA256" -> "SHA-256";
            case "SHA224" -> "SHA-224";
            case "SHA384" -> "SHA-384";
            case "SHA512" -> "SHA-512";
            default -> null;
        };
        if (hash == null) {
            return null;
        }
        try {
            return MessageDigest.getInstance(hash).digest(certificate.getEncoded());
        } catch (NoSuchAlgorithmException | CertificateEncodingException e) {
            return null;
        }
    }
}
