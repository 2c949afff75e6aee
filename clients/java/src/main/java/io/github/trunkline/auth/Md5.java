package io.github.trunkline.auth;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** PostgreSQL's MD5 passwords: {@code "md5" + hex(md5(hex(md5(password + user)) + salt))}. */
public final class Md5 {
    private Md5() {}

    /** What to send as the password. */
    public static byte[] answer(String user, String password, byte[] salt) {
        byte[] inner = hash((password + user).getBytes(StandardCharsets.UTF_8), new byte[0]);
        byte[] outer = hash(HexFormat.of().formatHex(inner).getBytes(StandardCharsets.US_ASCII), salt);
        return ("md5" + HexFormat.of().formatHex(outer)).getBytes(StandardCharsets.US_ASCII);
    }

    private static byte[] hash(byte[] first, byte[] second) {
        try {
            MessageDigest digest = MessageDigest.getInstance("MD5");
            digest.update(first);
            return digest.digest(second);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this JVM has no MD5, which the server asks for", e);
        }
    }
}
