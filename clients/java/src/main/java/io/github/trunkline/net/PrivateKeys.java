package io.github.trunkline.net;

import io.github.trunkline.wire.Out;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Cipher;
import javax.crypto.EncryptedPrivateKeyInfo;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;

/**
 * Private keys in the shapes that OpenSSL and its like write: PEM of PKCS#8, with a password or without, of PKCS#1 (RSA) and
 * of SEC 1 (EC); and PKCS#8 in DER, which pgjdbc wants. Java itself knows PKCS#8 alone.
 */
final class PrivateKeys {
    private static final Pattern PEM = Pattern.compile("-----BEGIN ([A-Z ]*PRIVATE KEY)-----([^-]+)-----END \\1-----");
    private static final int SEQUENCE = 0x30;
    /** AlgorithmIdentifier of rsaEncryption: an object id and NULL (RFC 8017). */
    private static final byte[] RSA = HexFormat.of().parseHex("300d06092a864886f70d0101010500");
    /** The object id of id-ecPublicKey (RFC 5480). */
    private static final byte[] EC = HexFormat.of().parseHex("06072a8648ce3d0201");

    private PrivateKeys() {}

    /**
     * Reads a key.
     *
     * @param password for a key that is encrypted; may be null
     * @throws IOException if the file holds no key that can be read, or the password is wrong
     */
    static PrivateKey read(Path file, String password) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        try {
            if (bytes.length > 0 && bytes[0] == SEQUENCE) {
                return key(bytes);
            }
            Matcher pem = PEM.matcher(new String(bytes, StandardCharsets.ISO_8859_1));
            if (!pem.find() || pem.group(2).contains(":")) {
                // With "Proc-Type:" before its bytes a key is encrypted in OpenSSL's old way.
                throw new IOException(file + " holds no private key in a shape that is understood; "
                        + "`openssl pkcs8 -topk8` makes one");
            }
            byte[] der = Base64.getMimeDecoder().decode(pem.group(2));
            return switch (pem.group(1)) {
                case "PRIVATE KEY" -> key(der);
                case "ENCRYPTED PRIVATE KEY" -> decrypted(der, password, file);
                case "RSA PRIVATE KEY" -> key(wrapped(RSA, der));
                case "EC PRIVATE KEY" -> key(wrapped(tagged(SEQUENCE, concat(EC, curve(der))), der));
                default -> throw new IOException(file + " holds a key of the kind " + pem.group(1));
            };
        } catch (GeneralSecurityException | IndexOutOfBoundsException | IllegalArgumentException e) {
            throw new IOException("the private key in " + file + " cannot be read: " + e.getMessage(), e);
        }
    }

    private static PrivateKey key(byte[] pkcs8) throws GeneralSecurityException {
        for (String algorithm : new String[] {"RSA", "EC", "Ed25519"}) {
            try {
                return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(pkcs8));
            } catch (InvalidKeySpecException e) {
                // The next kind.
            }
        }
        throw new InvalidKeySpecException("it is neither RSA, EC nor Ed25519");
    }

    private static PrivateKey decrypted(byte[] der, String password, Path file) throws IOException, GeneralSecurityException {
        if (password == null) {
            throw new IOException("the private key in " + file + " is encrypted, and no sslpassword is given");
        }
        var info = new EncryptedPrivateKeyInfo(der);
        // Of PBES2 the parameters name the algorithm that it stands for.
        String named = info.getAlgParameters().toString();
        String algorithm = named != null && named.startsWith("PBE") ? named : info.getAlgName();
        var secret = SecretKeyFactory.getInstance(algorithm).generateSecret(new PBEKeySpec(password.toCharArray()));
        Cipher cipher = Cipher.getInstance(algorithm);
        cipher.init(Cipher.DECRYPT_MODE, secret, info.getAlgParameters());
        return key(info.getKeySpec(cipher).getEncoded());
    }

    /** PKCS#8 around a key: its version (0), its algorithm, and itself (RFC 5958). */
    private static byte[] wrapped(byte[] algorithm, byte[] key) {
        return tagged(SEQUENCE, concat(new byte[] {2, 1, 0}, algorithm, tagged(0x04, key)));
    }

    /** The curve's object id, which SEC 1 has in the field tagged 0, behind the version and the number. */
    private static byte[] curve(byte[] sec1) {
        int at = content(sec1, 0);
        for (int field = 0; field < 2; field++) {
            at = content(sec1, at) + length(sec1, at);
        }
        if (sec1[at] != (byte) 0xa0) {
            throw new IllegalArgumentException("it does not name its curve");
        }
        int begin = content(sec1, at);
        return Arrays.copyOfRange(sec1, begin, begin + length(sec1, at));
    }

    /** Where the content begins of what has its tag at {@code at}. */
    private static int content(byte[] der, int at) {
        return at + 2 + (der[at + 1] < 0 ? der[at + 1] & 0x7f : 0);
    }

    private static int length(byte[] der, int at) {
        int length = der[at + 1];
        if (length < 0) {
            length = 0;
            for (int i = at + 2; i < content(der, at); i++) {
                length = length << 8 | der[i] & 0xff;
            }
        }
        return length;
    }

    private static byte[] tagged(int tag, byte[] content) {
        var out = new Out().int8(tag);
        // DER wants the shortest form of each length.
        if (content.length < 0x80) {
            out.int8(content.length);
        } else if (content.length < 0x100) {
            out.int8(0x81).int8(content.length);
        } else {
            out.int8(0x82).int16(content.length);
        }
        return concat(Arrays.copyOf(out.array(), out.size()), content);
    }

    private static byte[] concat(byte[]... parts) {
        var out = new Out();
        for (byte[] part : parts) {
            out.bytes(part);
        }
        return Arrays.copyOf(out.array(), out.size());
    }
}
