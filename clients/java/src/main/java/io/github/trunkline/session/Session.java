package io.github.trunkline.session;

import io.github.trunkline.ConnectionException;
import io.github.trunkline.Notification;
import io.github.trunkline.PostgresException;
import io.github.trunkline.ProtocolException;
import io.github.trunkline.ServerException;
import io.github.trunkline.config.Config;
import io.github.trunkline.net.Dialer;
import io.github.trunkline.net.Transport;
import io.github.trunkline.wire.Backend;
import io.github.trunkline.wire.Fields;
import io.github.trunkline.wire.Frontend;
import io.github.trunkline.wire.Out;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * One session with a server: messages out, messages in, and what comes unasked. One thread uses it at a time; whoever
 * owns it sees to that. After an error of the socket or the protocol it is closed for good.
 */
public final class Session {
    private final Config config;
    private final Dialer.Address address;
    private final boolean withTls;
    private final Transport transport;
    private final Inbound in;
    private final Out out = new Out();
    private final Frontend frontend = new Frontend(out);
    private final Map<String, String> parameters = new ConcurrentHashMap<>();
    private final ArrayDeque<Notification> notifications = new ArrayDeque<>();
    private final Alarm alarm = new Alarm(this);
    private Consumer<Fields> onNotice = notice -> {};
    private long notificationsDropped;
    private char status = 'I';
    private volatile int processId;
    private volatile byte[] secretKey;
    private volatile PostgresException closedBy;

    Session(Config config, Dialer.Address address, boolean withTls, Transport transport) {
        this.config = config;
        this.address = address;
        this.withTls = withTls;
        this.transport = transport;
        this.in = new Inbound(transport, config.messageBytesMax());
    }

    /** How it was configured. */
    public Config config() {
        return config;
    }

    /** Where the server is. */
    public Dialer.Address address() {
        return address;
    }

    boolean withTls() {
        return withTls;
    }

    Transport transport() {
        return transport;
    }

    /** Puts messages into the buffer; {@link #send} sends them. */
    public Frontend frontend() {
        return frontend;
    }

    /** The present message. */
    public Inbound in() {
        return in;
    }

    /** Deadlines and interrupts. */
    public Alarm alarm() {
        return alarm;
    }

    /** What ReadyForQuery said last: I idle, T in a transaction, E in a failed one. */
    public char status() {
        return status;
    }

    /** What the server has reported: server_version, TimeZone and so on. */
    public Map<String, String> parameters() {
        return parameters;
    }

    /** The server process of this session. */
    public int processId() {
        return processId;
    }

    byte[] secretKey() {
        return secretKey;
    }

    void key(Backend.BackendKeyData data) {
        processId = data.processId();
        secretKey = data.secretKey();
    }

    /** Hears every NoticeResponse, on the thread that reads. */
    public void onNotice(Consumer<Fields> listener) {
        onNotice = listener;
    }

    /** Notifications that nobody has taken yet, oldest first. */
    public ArrayDeque<Notification> notifications() {
        return notifications;
    }

    /** How many notifications were dropped because nobody took them. */
    public long notificationsDropped() {
        return notificationsDropped;
    }

    /** Puts messages into the buffer: all that {@code messages} puts, or none of them if it throws. */
    void put(Runnable messages) {
        int before = out.size();
        try {
            messages.run();
        } catch (Throwable e) {
            // Half of a message would be sent with the next one.
            out.truncate(before);
            throw e;
        }
    }

    /**
     * Runs {@code work} under a time limit; zero is none. In it the thread waits for the server: when the time is over, or
     * the thread is interrupted, the server is asked to cancel.
     */
    <T> T timed(Duration limit, Supplier<T> work) {
        alarm.begin(limit);
        PostgresException failure;
        try {
            return work.get();
        } catch (PostgresException e) {
            failure = e;
        } finally {
            alarm.end();
        }
        throw alarm.explain(failure);
    }

    /** Sends the buffer. */
    public void send() {
        checkOpen();
        try {
            transport.write(out.array(), 0, out.size());
            out.clear();
        } catch (IOException e) {
            throw lost(e);
        }
    }

    /** Waits for the next message that is an answer. Handles notices, notifications and parameter changes on the way. */
    public byte receive() {
        checkOpen();
        try {
            while (true) {
                byte type = in.next();
                if (type == 'D' || !isUnasked(type)) {
                    return type;
                }
                unasked();
            }
        } catch (IOException e) {
            throw lost(e);
        } catch (ProtocolException e) {
            throw fail(e);
        }
    }

    /** Handles notices, notifications and parameter changes that arrive within that time; true if one arrived. */
    public boolean listen(int milliseconds) {
        checkOpen();
        try {
            boolean came = in.hasNext() || in.readWithin(milliseconds);
            while (in.hasNext()) {
                byte type = in.next();
                if (type == 'E') {
                    throw fail(new ServerException(((Backend.ErrorResponse) decode()).fields()));
                }
                if (!isUnasked(type)) {
                    throw new ProtocolException("the server sent a message of type '" + (char) type + "' unasked");
                }
                unasked();
            }
            return came;
        } catch (IOException e) {
            throw lost(e);
        } catch (ProtocolException e) {
            throw fail(e);
        }
    }

    /** Decodes the present message. */
    public Backend decode() {
        try {
            return Backend.decode(in.type(), in.buffer(), in.start(), in.end());
        } catch (ProtocolException e) {
            throw fail(e);
        }
    }

    /** The present ErrorResponse as an exception to throw once the turn is over. */
    public ServerException error() {
        return new ServerException(((Backend.ErrorResponse) decode()).fields());
    }

    /** Takes the transaction status from the present ReadyForQuery. */
    public void ready() {
        status = ((Backend.ReadyForQuery) decode()).status();
    }

    /** Closes the session because the present message must not come here. */
    public PostgresException unexpected(String where) {
        return fail(new ProtocolException(
                "the server sent a message of type '" + (char) in.type() + "' " + where + ", where none such belongs"));
    }

    private static boolean isUnasked(byte type) {
        return type == 'N' || type == 'A' || type == 'S';
    }

    private void unasked() {
        Backend message = decode();
        if (message instanceof Backend.ParameterStatus parameter) {
            parameters.put(parameter.name(), parameter.value());
        } else if (message instanceof Backend.NoticeResponse notice) {
            Listeners.call(() -> onNotice.accept(notice.fields()));
        } else if (message instanceof Backend.NotificationResponse notify) {
            if (notifications.size() >= config.notificationsMax()) {
                notifications.removeFirst();
                notificationsDropped++;
            }
            notifications.addLast(new Notification(notify.channel(), notify.payload(), notify.processId()));
        }
    }

    private PostgresException lost(IOException cause) {
        PostgresException error = fail(
                new ConnectionException("the connection to " + address + " was lost: " + reason(cause), cause));
        if (Thread.currentThread().isInterrupted()) {
            // When a thread is interrupted, Java closes its channel, and a virtual thread's socket.
            alarm.closedByInterrupt();
        }
        return error;
    }

    static String reason(Throwable cause) {
        return cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
    }

    /** Closes the session because of {@code cause}, and returns {@code cause} to be thrown. */
    public PostgresException fail(PostgresException cause) {
        if (closedBy == null) {
            closedBy = cause;
        }
        transport.close();
        Watchdog.forget(this);
        return cause;
    }

    private void checkOpen() {
        PostgresException cause = closedBy;
        if (cause != null) {
            throw new ConnectionException("the connection to " + address + " is closed: " + cause.getMessage(), cause);
        }
    }

    /** False once the session was closed or has failed. */
    public boolean isOpen() {
        return closedBy == null;
    }

    /** Sends Terminate and closes. */
    public void close() {
        if (closedBy != null) {
            return;
        }
        closedBy = new ConnectionException("it was closed");
        try {
            // In a buffer of its own, since another thread may be writing to the session's.
            var last = new Out();
            new Frontend(last).terminate();
            transport.write(last.array(), 0, last.size());
        } catch (IOException e) {
            // The server may have closed the connection before.
        }
        transport.close();
        Watchdog.forget(this);
    }
}
