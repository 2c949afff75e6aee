package io.github.trunkline.auth;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.trunkline.ProtocolException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ScramTest {
    private static final String NONCE = "rOprNGfwEbeRWgbNEkqO";
    private static final String CHALLENGE =
            "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static Scram scram() {
        return new Scram("pencil", null, false, NONCE);
    }

    /** The exchange of RFC 7677, but for the user's name, which PostgreSQL takes from elsewhere. */
    @Test
    void provesThePasswordAndChecksTheServer() {
        Scram scram = scram();
        assertEquals("n,,n=,r=" + NONCE, new String(scram.first(), StandardCharsets.UTF_8));
        String last = new String(scram.last(bytes(CHALLENGE)), StandardCharsets.UTF_8);
        // Computed with Python's hashlib from the RFC's salt, count and password, and an empty name.
        assertEquals("c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=qvT2SWdEH5Q06albL+hjSYuUhCG7VndFyzIb7CK4n9k=", last);
        scram.verify(bytes("v=3HO6Qt1M4MKJrmlKaoOqLAI0/0TV0HZe7J9H3MBtSOg="));
    }

    @Test
    void refusesAServerThatDoesNotKnowThePassword() {
        Scram scram = scram();
        scram.last(bytes(CHALLENGE));
        assertThrows(ProtocolException.class,
                () -> scram.verify(bytes("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")));
        assertThrows(ProtocolException.class, () -> scram.verify(bytes("e=other-error")));
        // A signature that comes before the challenge.
        assertThrows(ProtocolException.class, () -> scram().verify(bytes("v=3HO6Qt1M4MKJrmlKaoOqLAI0/0TV0HZe7J9H3MBtSOg=")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "r=,s=,i=", "r=someoneelses,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
        "r=rOprNGfwEbeRWgbNEkqO,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", "r=rOprNGfwEbeRWgbNEkqOx,s=!,i=4096",
        "r=rOprNGfwEbeRWgbNEkqOx,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=0",
        "r=rOprNGfwEbeRWgbNEkqOx,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=2147483647",
        "r=rOprNGfwEbeRWgbNEkqOx,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=many"})
    void refusesChallengesThatAreNone(String challenge) {
        assertThrows(ProtocolException.class, () -> scram().last(bytes(challenge)));
    }

    @Test
    void bindsToTheConnection() {
        var scram = new Scram("pencil", new byte[] {1, 2, 3}, true, NONCE);
        assertTrue(new String(scram.first(), StandardCharsets.UTF_8).startsWith("p=tls-server-end-point,,n=,"));
        assertTrue(new String(new Scram("x", null, true).first(), StandardCharsets.UTF_8).startsWith("y,,"));
    }

    @Test
    void preparesPasswordsAsPostgresDoes() {
        assertEquals("a b", SaslPrep.prepare("a\u00a0b"));
        assertEquals("IX", SaslPrep.prepare("I\u00adX"));
        assertEquals("IX", SaslPrep.prepare("\u2168"));
        // Forbidden, so taken as it is.
        assertEquals("a\u0007\u00a0", SaslPrep.prepare("a\u0007\u00a0"));
        assertEquals("\u06271", SaslPrep.prepare("\u06271"));
    }
}
