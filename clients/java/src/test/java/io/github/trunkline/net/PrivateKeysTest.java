package io.github.trunkline.net;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.interfaces.ECPrivateKey;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PrivateKeysTest {
    @TempDir
    private Path folder;

    private static PrivateKey generated(String algorithm, int bits) throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm);
        if (bits > 0) {
            generator.initialize(bits);
        }
        return generator.generateKeyPair().getPrivate();
    }

    private Path pem(String kind, byte[] der) throws IOException {
        return Files.writeString(folder.resolve("key"), "remarks\n-----BEGIN " + kind + "-----\n"
                + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der) + "\n-----END " + kind + "-----\n");
    }

    private static void same(PrivateKey expected, PrivateKey read) {
        assertEquals(expected.getAlgorithm(), read.getAlgorithm());
        assertArrayEquals(expected.getEncoded(), read.getEncoded());
    }

    @Test
    void readsPkcs8() throws Exception {
        for (PrivateKey key : new PrivateKey[] {generated("RSA", 2048), generated("EC", 256), generated("Ed25519", 0)}) {
            assertEquals(key, PrivateKeys.read(pem("PRIVATE KEY", key.getEncoded()), null));
            assertEquals(key, PrivateKeys.read(Files.write(folder.resolve("der"), key.getEncoded()), null));
        }
    }

    @Test
    void readsWhatOpensslWrites() throws Exception {
        PrivateKey rsa = generated("RSA", 2048);
        // Behind the header, the version and the algorithm comes the key itself, behind a header of its own.
        byte[] pkcs8 = rsa.getEncoded();
        same(rsa, PrivateKeys.read(pem("RSA PRIVATE KEY", Arrays.copyOfRange(pkcs8, 4 + 3 + 15 + 4, pkcs8.length)), null));
        // Made by `openssl ecparam -name prime256v1 -genkey -noout` for this test alone.
        byte[] sec1 = HexFormat.of().parseHex("30770201010420508fbbaf08b952a603d701953dbcb80672ca0fb139ddcdbc08641fdcc3b43208a00a06082a8648ce3d0301"
                + "07a14403420004659bb92c9403cf36ddb053f5317cb3c2c0d81c7dd225edfc5e9ae02ada96b170c389430dca93e5a1cfd66a"
                + "5ad2bb3f38277b1ce1bef1e3e1c62d88835281bcf5");
        PrivateKey ec = PrivateKeys.read(pem("EC PRIVATE KEY", sec1), null);
        assertEquals("EC", ec.getAlgorithm());
        assertEquals("508fbbaf08b952a603d701953dbcb80672ca0fb139ddcdbc08641fdcc3b43208",
                ((ECPrivateKey) ec).getS().toString(16));
    }

    @Test
    void readsEncryptedOnes() throws Exception {
        // One key, made for this test alone: by `openssl pkcs8 -topk8 -v2 aes-256-cbc`, and by `-v1 PBE-SHA1-3DES`.
        String newer = "3081ec305706092a864886f70d01050d304a302906092a864886f70d01050c301c04086263683fce721b3d02020800300c06"
                + "082a864886f70d02090500301d060960864801650304012a0410eb24e6d75fa2133ccc855501c19997030481907132a84aab"
                + "64f58bfc336dd0c348de12f881b2842cb6ec59e50a1707f0275d54f79ebd6361f77309d2dcd4ab3dbe814f0abc7104ef9b8a"
                + "40bdba14c39cd9958442ee38ee8eacd00c8980b52a15251de84d6b69e44cad62294442cf0d85c939059f6b113be7ba0eb14f"
                + "928f7ccf8b7ad9a54f4179b1f3b7198d4ec765ee7ccc1711e021d5bfbba50eee575337b834f25e";
        String older = "3081b1301c060a2a864886f70d010c0103300e04084d5eb7b18bc48c0602020800048190c3b35cbc55def291ac1a6f2adbd4"
                + "175390d59d4a122e67f76f10f03afcb73d377ad33a9fa19dd2fcdf46964b27b09bbe6713e214d32e2bfa9930cb4e93c4632c"
                + "3840f1d3aa2b4cd5c5c427af9c35e3380740a9fd405cd8f739e918eb19b60fbd0eacb7d866b4de5199ce6be73c00f9b1ea97"
                + "7fffff6e377cc74e688f7102915f1d5ce8ea2875cf4ce9138c495b54b6b8";
        for (String hex : new String[] {newer, older}) {
            Path file = pem("ENCRYPTED PRIVATE KEY", HexFormat.of().parseHex(hex));
            var key = (ECPrivateKey) PrivateKeys.read(file, "secret");
            assertEquals("b012311089838e3483cb8dc5976aa43d2e2055df77df40d61038e2ef43697a65", key.getS().toString(16));
            var none = assertThrows(IOException.class, () -> PrivateKeys.read(file, null));
            assertTrue(none.getMessage().contains("sslpassword"), none.getMessage());
            assertThrows(IOException.class, () -> PrivateKeys.read(file, "wrong"));
        }
    }

    @Test
    void refusesWhatIsNone() throws Exception {
        byte[] key = generated("EC", 256).getEncoded();
        for (String kind : new String[] {"PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY",
            "DSA PRIVATE KEY", "CERTIFICATE"}) {
            for (int length : new int[] {1, 2, 5, 20, key.length - 1}) {
                Path file = pem(kind, Arrays.copyOf(key, length));
                assertThrows(IOException.class, () -> PrivateKeys.read(file, "x"));
            }
        }
        Path empty = Files.write(folder.resolve("empty"), new byte[0]);
        assertThrows(IOException.class, () -> PrivateKeys.read(empty, null));
    }
}
