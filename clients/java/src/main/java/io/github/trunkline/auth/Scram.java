package io.github.trunkline.auth;

import io.github.trunkline.ProtocolException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * A client's part of SCRAM-SHA-256 and SCRAM-SHA-256-PLUS (RFC 5802, 7677). One object for one login: {@link #first},
 * then {@link #last} with the server's challenge, then {@link #verify} with its last message.
 */
public final class Scram {
    /** Without channel binding. */
    public static final String MECHANISM = "SCRAM-SHA-256";
    /** With channel binding. */
    public static final String MECHANISM_PLUS = "SCRAM-SHA-256-PLUS";
    /** A malicious server could keep a client busy with more iterations. PostgreSQL's default is 4096. */
    static final int ITERATIONS_MAX = 10_000_000;

    private static final int NONCE_BYTES = 18;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final String password;
    private final String gs2Header;
    private final byte[] bindingData;
    private final String nonce;
    private byte[] serverSignature;

    /**
     * @param bindingData the hash of the server's certificate ("tls-server-end-point"), or null for no binding
     * @param couldBind true if this client would bind, but the server offered no mechanism with it
     */
    public Scram(String password, byte[] bindingData, boolean couldBind) {
        this(password, bindingData, couldBind, newNonce());
    }

    Scram(String password, byte[] bindingData, boolean couldBind, String nonce) {
        this.password = password;
        this.bindingData = bindingData == null ? new byte[0] : bindingData;
        this.gs2Header = bindingData != null ? "p=tls-server-end-point,," : couldBind ? "y,," : "n,,";
        this.nonce = nonce;
    }

    private static String newNonce() {
        var bytes = new byte[NONCE_BYTES];
        RANDOM.nextBytes(bytes);
        return Base64.getEncoder().encodeToString(bytes);
    }

    /** The client-first-message. PostgreSQL takes the user of the StartupMessage, so the name here is empty. */
    public byte[] first() {
        return ascii(gs2Header + firstBare());
    }

    private String firstBare() {
        return "n=,r=" + nonce;
    }

    /** The client-final-message, which answers the server's challenge. */
    public byte[] last(byte[] challenge) {
        String text = new String(challenge, StandardCharsets.UTF_8);
        String[] attributes = text.split(",", -1);
        if (attributes.length < 3) {
            throw misbehaved("its challenge has " + attributes.length + " attributes, not 3");
        }
        String bothNonces = attribute(attributes[0], 'r');
        if (!bothNonces.startsWith(nonce) || bothNonces.length() == nonce.length()) {
            throw misbehaved("its nonce does not continue ours");
        }
        byte[] salt = base64(attribute(attributes[1], 's'));
        byte[] binding = concat(ascii(gs2Header), bindingData);
        String withoutProof = "c=" + Base64.getEncoder().encodeToString(binding) + ",r=" + bothNonces;
        String authMessage = firstBare() + "," + text + "," + withoutProof;
        byte[] salted = saltedPassword(salt, iterations(attribute(attributes[2], 'i')));
        byte[] clientKey = hmac(salted, ascii("Client Key"));
        byte[] proof = hmac(sha256(clientKey), authMessage.getBytes(StandardCharsets.UTF_8));
        for (int i = 0; i < proof.length; i++) {
            proof[i] ^= clientKey[i];
        }
        serverSignature = hmac(hmac(salted, ascii("Server Key")), authMessage.getBytes(StandardCharsets.UTF_8));
        return ascii(withoutProof + ",p=" + Base64.getEncoder().encodeToString(proof));
    }

    /** Checks that the server knows the password too. */
    public void verify(byte[] serverFinal) {
        String text = new String(serverFinal, StandardCharsets.UTF_8);
        if (text.startsWith("e=")) {
            throw misbehaved("it ends with the error " + text.substring(2));
        }
        byte[] signature = base64(attribute(text.split(",", -1)[0], 'v'));
        if (serverSignature == null || !MessageDigest.isEqual(signature, serverSignature)) {
            throw misbehaved("its signature is wrong: it does not know the password");
        }
    }

    private static String attribute(String text, char name) {
        if (text.length() < 2 || text.charAt(0) != name || text.charAt(1) != '=') {
            throw misbehaved("the attribute " + name + " is missing");
        }
        return text.substring(2);
    }

    private static int iterations(String text) {
        try {
            int iterations = Integer.parseInt(text);
            if (iterations >= 1 && iterations <= ITERATIONS_MAX) {
                return iterations;
            }
        } catch (NumberFormatException e) {
            // Refused below, like other wrong numbers.
        }
        throw misbehaved("it asks for " + text + " iterations; 1 to " + ITERATIONS_MAX + " are done");
    }

    private static byte[] base64(String text) {
        try {
            return Base64.getDecoder().decode(text);
        } catch (IllegalArgumentException e) {
            throw misbehaved("a value is no Base64");
        }
    }

    /** PBKDF2 with HMAC-SHA-256 and one block of output. */
    private byte[] saltedPassword(byte[] salt, int iterations) {
        byte[] prepared = SaslPrep.prepare(password).getBytes(StandardCharsets.UTF_8);
        try {
            Mac mac = mac(prepared);
            mac.update(salt);
            byte[] block = mac.doFinal(new byte[] {0, 0, 0, 1});
            byte[] result = block.clone();
            for (int i = 1; i < iterations; i++) {
                block = mac.doFinal(block);
                for (int j = 0; j < result.length; j++) {
                    result[j] ^= block[j];
                }
            }
            return result;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this JVM has no HMAC-SHA-256, which the server asks for", e);
        }
    }

    private static Mac mac(byte[] key) throws GeneralSecurityException {
        Mac mac = Mac.getInstance("HmacSHA256");
        // SecretKeySpec refuses an empty key. HMAC pads keys with zeros, so that one zero byte is the same key.
        mac.init(new SecretKeySpec(key.length == 0 ? new byte[1] : key, "HmacSHA256"));
        return mac;
    }

    private static byte[] hmac(byte[] key, byte[] text) {
        try {
            return mac(key).doFinal(text);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this JVM has no HMAC-SHA-256, which the server asks for", e);
        }
    }

    private static byte[] sha256(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this JVM has no SHA-256, which the server asks for", e);
        }
    }

    private static byte[] concat(byte[] first, byte[] second) {
        var both = new byte[first.length + second.length];
        System.arraycopy(first, 0, both, 0, first.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static ProtocolException misbehaved(String what) {
        return new ProtocolException("the server broke SCRAM: " + what);
    }
}
