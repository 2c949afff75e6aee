package io.github.trunkline.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.trunkline.Connection;
import io.github.trunkline.ConnectionException;
import io.github.trunkline.Server;
import io.github.trunkline.config.Config;
import io.github.trunkline.config.SslMode;
import io.github.trunkline.config.SslNegotiation;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/** A server of this test's own, with a certificate of the test kit's: what PostgreSQL's own would need another setting for. */
@EnabledIfEnvironmentVariable(named = Server.VARIABLE, matches = ".+")
class TlsTest {
    /** AuthenticationOk, BackendKeyData and ReadyForQuery. */
    private static final byte[] WELCOME = HexFormat.of().parseHex("5200000008000000004b0000000c00000001000000025a0000000549");

    private final Path folder = Server.direct().get(0).folder();
    private final Path certificate = folder.resolve("server.crt");
    private final Path key = folder.resolve("server.key");

    /** Lets one client in, by TLS with these protocols of ALPN, and gives the name in the certificate that it showed. */
    private CompletableFuture<String> serve(ServerSocket listener, boolean direct, boolean asksForCertificate, String... alpn) {
        return CompletableFuture.supplyAsync(() -> {
            try (Socket socket = listener.accept()) {
                if (!direct) {
                    socket.getInputStream().readNBytes(8);
                    socket.getOutputStream().write('S');
                }
                SSLContext context = SSLContext.getInstance("TLS");
                context.init(Pem.keyManagers(certificate, key, null), Pem.trustManagers(certificate), null);
                var secure = (SSLSocket) context.getSocketFactory().createSocket(socket, null, true);
                SSLParameters parameters = secure.getSSLParameters();
                parameters.setApplicationProtocols(alpn);
                parameters.setNeedClientAuth(asksForCertificate);
                secure.setSSLParameters(parameters);
                var in = new DataInputStream(secure.getInputStream());
                in.skipNBytes(in.readInt() - 4);
                secure.getOutputStream().write(WELCOME);
                in.read();
                return asksForCertificate ? secure.getSession().getPeerPrincipal().getName() : "";
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
    }

    private Config.Builder config(ServerSocket listener) {
        return Config.builder().host("127.0.0.1").port(listener.getLocalPort()).user("u").database("d")
                .sslMode(SslMode.VERIFY_FULL).sslRootCertificate(certificate);
    }

    private static ServerSocket listener() throws IOException {
        return new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
    }

    @Test
    void showsItsCertificate() throws Exception {
        try (ServerSocket listener = listener()) {
            CompletableFuture<String> shown = serve(listener, false, true);
            Connection.connect(config(listener).sslCertificate(certificate).sslKey(key).build()).close();
            assertTrue(shown.get().contains("CN="), shown.get());
            CompletableFuture<String> none = serve(listener, false, true);
            assertThrows(ConnectionException.class, () -> Connection.connect(config(listener).build()).close());
            assertTrue(none.handle((name, error) -> error != null).get());
            assertThrows(ConnectionException.class,
                    () -> Connection.connect(config(listener).sslCertificate(certificate).build()));
        }
    }

    @Test
    void beginsTlsAtOnceWithPostgresAndNothingElse() throws Exception {
        try (ServerSocket listener = listener()) {
            Config direct = config(listener).sslNegotiation(SslNegotiation.DIRECT).build();
            CompletableFuture<String> served = serve(listener, true, false, "http/1.1", "postgresql");
            Connection.connect(direct).close();
            assertEquals("", served.get());
            serve(listener, true, false);
            var silent = assertThrows(ConnectionException.class, () -> Connection.connect(direct));
            assertTrue(silent.getMessage().contains("ALPN"), silent.getMessage());
            serve(listener, true, false, "http/1.1");
            assertThrows(ConnectionException.class, () -> Connection.connect(direct));
        }
    }
}
