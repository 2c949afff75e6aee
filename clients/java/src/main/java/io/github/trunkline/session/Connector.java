package io.github.trunkline.session;

import io.github.trunkline.ConnectionException;
import io.github.trunkline.PostgresException;
import io.github.trunkline.ServerException;
import io.github.trunkline.config.Config;
import io.github.trunkline.config.Host;
import io.github.trunkline.config.TargetServer;
import io.github.trunkline.net.Dialer;
import io.github.trunkline.net.Transport;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Tries the hosts of a configuration, their addresses, and TLS as sslmode wants it, until a session stands. */
public final class Connector {
    private final Config config;
    private final List<String> failures = new ArrayList<>();
    private PostgresException last;

    private Connector(Config config) {
        this.config = config;
    }

    /** A session, logged in and idle. */
    public static Session connect(Config config) {
        var connector = new Connector(config);
        if (config.targetServer() == TargetServer.PREFER_STANDBY) {
            Session standby = connector.tryAll(TargetServer.STANDBY);
            return standby != null ? standby : connector.orThrow(connector.tryAll(TargetServer.ANY));
        }
        return connector.orThrow(connector.tryAll(config.targetServer()));
    }

    private Session orThrow(Session session) {
        if (session != null) {
            return session;
        }
        if (failures.size() == 1 && last != null) {
            throw last;
        }
        throw new ConnectionException("no server can be connected to:\n  " + String.join("\n  ", failures), last);
    }

    private Session tryAll(TargetServer wanted) {
        failures.clear();
        var hosts = new ArrayList<>(config.hosts());
        if (config.loadBalance()) {
            Collections.shuffle(hosts);
        }
        for (Host host : hosts) {
            Session session = tryHost(host, wanted);
            if (session != null) {
                return session;
            }
        }
        return null;
    }

    private Session tryHost(Host host, TargetServer wanted) {
        List<Dialer.Address> addresses;
        try {
            addresses = Dialer.resolve(host);
        } catch (IOException e) {
            failed(host.toString(), new ConnectionException("the host " + host.name() + " cannot be found", e));
            return null;
        }
        for (Dialer.Address address : addresses) {
            for (boolean withTls : Dialer.attempts(config.sslMode(), host)) {
                try {
                    Session session = open(address, withTls);
                    if (suits(session, wanted)) {
                        return session;
                    }
                    session.close();
                    failed(address.toString(), new ConnectionException(address + " is not " + wanted));
                    break;
                } catch (IOException e) {
                    failed(address.toString(), new ConnectionException(
                            "cannot connect to " + address + ": " + Session.reason(e), e));
                } catch (PostgresException e) {
                    failed(address.toString(), e);
                    if (!mayHelp(e)) {
                        break;
                    }
                }
            }
        }
        return null;
    }

    /** Only two failures may differ with and without TLS: a refusal by pg_hba.conf (28000), and a close without an error. */
    private static boolean mayHelp(PostgresException e) {
        return !(e instanceof ServerException) || "28000".equals(e.sqlState());
    }

    private void failed(String where, PostgresException cause) {
        failures.add(where + ": " + cause.getMessage());
        last = cause;
    }

    private Session open(Dialer.Address address, boolean withTls) throws IOException {
        int limit = (int) Math.min(config.connectTimeout().toMillis(), Integer.MAX_VALUE);
        Transport transport = Dialer.dial(address, config, withTls, limit);
        var session = new Session(config, address, transport.serverCertificate() != null, transport);
        Watchdog.watch(session);
        // There is no cancel key yet, so that only closing the connection ends a login that hangs.
        session.alarm().beginOrClose(config.connectTimeout(), "the server did not let us in within connectTimeout");
        try {
            new Login(session).run();
            return session;
        } catch (PostgresException e) {
            session.fail(e);
            throw session.alarm().explain(e);
        } catch (RuntimeException e) {
            session.close();
            throw e;
        } finally {
            session.alarm().end();
        }
    }

    private static boolean suits(Session session, TargetServer wanted) {
        return switch (wanted) {
            case ANY, PREFER_STANDBY -> true;
            case READ_WRITE -> !isReadOnly(session);
            case READ_ONLY -> isReadOnly(session);
            case PRIMARY -> !isStandby(session);
            case STANDBY -> isStandby(session);
        };
    }

    /** Servers before PostgreSQL 14 report neither parameter, so the client asks them. */
    private static boolean isStandby(Session session) {
        String reported = session.parameters().get("in_hot_standby");
        return reported != null ? reported.equals("on")
                : SimpleQuery.value(session, "select pg_catalog.pg_is_in_recovery()").equals("t");
    }

    private static boolean isReadOnly(Session session) {
        String reported = session.parameters().get("default_transaction_read_only");
        boolean byDefault = reported != null ? reported.equals("on")
                : SimpleQuery.value(session, "show transaction_read_only").equals("on");
        return byDefault || isStandby(session);
    }
}
