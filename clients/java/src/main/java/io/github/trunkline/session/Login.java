package io.github.trunkline.session;

import io.github.trunkline.ConnectionException;
import io.github.trunkline.auth.ChannelBinding;
import io.github.trunkline.auth.Md5;
import io.github.trunkline.auth.Scram;
import io.github.trunkline.config.Config;
import io.github.trunkline.config.PassFile;
import io.github.trunkline.wire.Backend;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Start-up and authentication: from the first message to the first ReadyForQuery. */
final class Login {
    private final Session session;
    private final Config config;
    private Scram scram;
    private boolean scramDone;
    private boolean bound;

    Login(Session session) {
        this.session = session;
        this.config = session.config();
    }

    void run() {
        session.frontend().startup(3, config.protocolMinor(), parameters());
        session.send();
        while (true) {
            byte type = session.receive();
            if (type == 'E') {
                throw session.fail(session.error());
            }
            Backend message = session.decode();
            if (message instanceof Backend.BackendKeyData key) {
                session.key(key);
            } else if (message instanceof Backend.ReadyForQuery) {
                session.ready();
                return;
            } else if (message instanceof Backend.NegotiateProtocolVersion offer) {
                negotiate(offer);
            } else if (!authenticate(message)) {
                throw session.unexpected("during login");
            }
        }
    }

    private List<Map.Entry<String, String>> parameters() {
        var list = new ArrayList<Map.Entry<String, String>>();
        list.add(Map.entry("user", config.user()));
        list.add(Map.entry("database", config.database()));
        list.add(Map.entry("client_encoding", "UTF8"));
        if (config.parameters().keySet().stream().noneMatch(name -> name.equalsIgnoreCase("datestyle"))) {
            // The client understands times in text in this style only.
            list.add(Map.entry("DateStyle", "ISO"));
        }
        list.addAll(config.parameters().entrySet());
        return list;
    }

    private void negotiate(Backend.NegotiateProtocolVersion offer) {
        // Up to PostgreSQL 17 the major version is missing from the number.
        boolean isThree = offer.major() == 3 || offer.major() == 0;
        if (!isThree || offer.minor() > config.protocolMinor()) {
            throw session.unexpected("to offer protocol " + offer.major() + "." + offer.minor());
        }
        if (offer.minor() < config.protocolMinorMin()) {
            throw session.fail(new ConnectionException("the server speaks protocol 3." + offer.minor()
                    + " at most, and min_protocol_version is 3." + config.protocolMinorMin()));
        }
    }

    /** False if the message is no part of authentication. */
    private boolean authenticate(Backend message) {
        if (message instanceof Backend.AuthenticationOk) {
            admitted();
        } else if (message instanceof Backend.AuthenticationCleartextPassword) {
            refuseWithoutBinding();
            answer(password().getBytes(StandardCharsets.UTF_8));
        } else if (message instanceof Backend.AuthenticationMd5Password md5) {
            refuseWithoutBinding();
            answer(Md5.answer(config.user(), password(), md5.salt()));
        } else if (message instanceof Backend.AuthenticationSasl sasl) {
            beginScram(sasl.mechanisms());
        } else if (message instanceof Backend.AuthenticationSaslContinue challenge && scram != null) {
            session.frontend().saslResponse(scram.last(challenge.data()));
            session.send();
        } else if (message instanceof Backend.AuthenticationSaslFinal last && scram != null) {
            scram.verify(last.data());
            scramDone = true;
        } else if (message instanceof Backend.Authentication other) {
            throw session.fail(new ConnectionException("the server asks for authentication by method " + other.code()
                    + " (2 Kerberos, 7 GSSAPI, 9 SSPI), which this client does not have"));
        } else {
            return false;
        }
        return true;
    }

    private void admitted() {
        if (scram != null && !scramDone) {
            throw session.fail(new ConnectionException(
                    "the server ended SCRAM without proof that it knows the password: it may be an impostor"));
        }
        if (config.channelBindingRequired() && !bound) {
            refuseWithoutBinding();
        }
    }

    private void refuseWithoutBinding() {
        if (config.channelBindingRequired()) {
            throw session.fail(new ConnectionException(
                    "channel_binding=require, but the server logs in without it: it needs TLS and SCRAM-SHA-256-PLUS"));
        }
    }

    private void beginScram(List<String> mechanisms) {
        X509Certificate certificate = session.transport().serverCertificate();
        byte[] binding = certificate == null || !config.channelBindingAllowed() ? null
                : ChannelBinding.endPoint(certificate);
        boolean plusOffered = mechanisms.contains(Scram.MECHANISM_PLUS);
        bound = binding != null && plusOffered;
        if (!bound) {
            refuseWithoutBinding();
        }
        if (!bound && !mechanisms.contains(Scram.MECHANISM)) {
            throw session.fail(new ConnectionException("the server offers " + mechanisms + "; this client has "
                    + Scram.MECHANISM + " and, with TLS, " + Scram.MECHANISM_PLUS));
        }
        scram = new Scram(password(), bound ? binding : null, binding != null && !plusOffered);
        session.frontend().saslInitial(bound ? Scram.MECHANISM_PLUS : Scram.MECHANISM, scram.first());
        session.send();
    }

    private void answer(byte[] password) {
        session.frontend().password(password);
        session.send();
    }

    private String password() {
        if (config.password() != null) {
            return config.password();
        }
        String none = "the server asks for a password, and none is given";
        try {
            String found = PassFile.find(config.passFile(), session.address().host(), config.database(), config.user());
            if (found != null) {
                return found;
            }
        } catch (IOException e) {
            throw session.fail(new ConnectionException(none + ": " + e.getMessage(), e));
        }
        throw session.fail(new ConnectionException(none + ", nor is one in " + config.passFile()));
    }
}
