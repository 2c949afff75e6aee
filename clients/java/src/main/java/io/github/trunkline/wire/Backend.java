package io.github.trunkline.wire;

import io.github.trunkline.ProtocolException;
import java.util.ArrayList;
import java.util.List;

/** The messages a server sends, by the manual's chapter "Message Formats". */
public sealed interface Backend {
    /** Login is over. */
    record AuthenticationOk() implements Backend {}

    /** Asks for a password as it is. */
    record AuthenticationCleartextPassword() implements Backend {}

    /** Asks for a password hashed with {@code salt} (4 bytes). */
    record AuthenticationMd5Password(byte[] salt) implements Backend {}

    /** Offers SASL mechanisms, the preferred one first. */
    record AuthenticationSasl(List<String> mechanisms) implements Backend {}

    /** A SASL challenge. */
    record AuthenticationSaslContinue(byte[] data) implements Backend {}

    /** The end of a SASL exchange. */
    record AuthenticationSaslFinal(byte[] data) implements Backend {}

    /** Another way to authenticate, by its code: 2 Kerberos V5, 7 GSSAPI, 8 its continuation, 9 SSPI. */
    record Authentication(int code, byte[] data) implements Backend {}

    /** What a CancelRequest of this session must carry. */
    record BackendKeyData(int processId, byte[] secretKey) implements Backend {}

    /** BindComplete. */
    record BindComplete() implements Backend {}

    /** CloseComplete. */
    record CloseComplete() implements Backend {}

    /** A statement is done; the tag is such as {@code INSERT 0 3}. */
    record CommandComplete(String tag) implements Backend {}

    /** A piece of a COPY. */
    record CopyData(byte[] data) implements Backend {}

    /** The end of a COPY. */
    record CopyDone() implements Backend {}

    /** A COPY begins; {@code direction} is the message's type: G in, H out, W both. */
    record CopyResponse(char direction, int format, List<Integer> columnFormats) implements Backend {}

    /** A row. */
    record DataRow(List<byte[]> values) implements Backend {}

    /** An empty text was executed. */
    record EmptyQueryResponse() implements Backend {}

    /** The server refuses. */
    record ErrorResponse(Fields fields) implements Backend {}

    /** A function's result; null is NULL. */
    record FunctionCallResponse(byte[] value) implements Backend {}

    /** The server speaks an older minor version, or does not know some options. */
    record NegotiateProtocolVersion(int major, int minor, List<String> unrecognizedOptions) implements Backend {}

    /** The statement gives no rows. */
    record NoData() implements Backend {}

    /** The server remarks. */
    record NoticeResponse(Fields fields) implements Backend {}

    /** A NOTIFY. */
    record NotificationResponse(int processId, String channel, String payload) implements Backend {}

    /** A statement's parameters: object ids, unsigned. */
    record ParameterDescription(int[] types) implements Backend {}

    /** A parameter's value, at login and when it changes. */
    record ParameterStatus(String name, String value) implements Backend {}

    /** ParseComplete. */
    record ParseComplete() implements Backend {}

    /** Execute's row limit was reached. */
    record PortalSuspended() implements Backend {}

    /** A turn is over: I idle, T in a transaction, E in a failed one. */
    record ReadyForQuery(char status) implements Backend {}

    /** A statement's columns. */
    record RowDescription(List<ColumnDescription> columns) implements Backend {}

    /**
     * Decodes a whole message.
     *
     * @param type its type byte
     * @param start where its body begins, after the length
     * @param end where it ends
     * @throws ProtocolException if its body does not have the shape that its type calls for
     */
    static Backend decode(byte type, byte[] bytes, int start, int end) {
        var body = new Body(name(type), bytes, start, end);
        Backend message = decode(type, body);
        body.end();
        return message;
    }

    // tidy: long because it is one table
    private static Backend decode(byte type, Body body) {
        return switch (type) {
            case 'R' -> authentication(body);
            case 'K' -> keyData(body);
            case '2' -> new BindComplete();
            case '3' -> new CloseComplete();
            case 'C' -> new CommandComplete(body.text());
            case 'd' -> new CopyData(body.rest());
            case 'c' -> new CopyDone();
            case 'G', 'H', 'W' -> copyResponse((char) type, body);
            case 'D' -> new DataRow(values(body));
            case 'I' -> new EmptyQueryResponse();
            case 'E' -> new ErrorResponse(fields(body));
            case 'V' -> new FunctionCallResponse(body.value());
            case 'v' -> negotiate(body);
            case 'n' -> new NoData();
            case 'N' -> new NoticeResponse(fields(body));
            case 'A' -> new NotificationResponse(body.int32(), body.text(), body.text());
            case 't' -> parameters(body);
            case 'S' -> new ParameterStatus(body.text(), body.text());
            case '1' -> new ParseComplete();
            case 's' -> new PortalSuspended();
            case 'Z' -> ready(body);
            case 'T' -> rowDescription(body);
            default -> throw new ProtocolException(
                    "the server sent a message of type " + Frame.printable(type) + ", which the protocol does not have");
        };
    }

    private static Backend authentication(Body body) {
        int code = body.int32();
        return switch (code) {
            case 0 -> new AuthenticationOk();
            case 3 -> new AuthenticationCleartextPassword();
            case 5 -> new AuthenticationMd5Password(body.bytes(4));
            case 10 -> new AuthenticationSasl(mechanisms(body));
            case 11 -> new AuthenticationSaslContinue(body.rest());
            case 12 -> new AuthenticationSaslFinal(body.rest());
            default -> new Authentication(code, body.rest());
        };
    }

    private static List<String> mechanisms(Body body) {
        var names = new ArrayList<String>();
        for (String name = body.text(); !name.isEmpty(); name = body.text()) {
            names.add(name);
        }
        if (names.isEmpty()) {
            throw body.wrong("it offers no mechanism");
        }
        return names;
    }

    private static Backend keyData(Body body) {
        int processId = body.int32();
        if (body.remaining() < 4 || body.remaining() > 256) {
            throw body.wrong("the key has " + body.remaining() + " bytes, not 4 to 256");
        }
        return new BackendKeyData(processId, body.rest());
    }

    private static Backend copyResponse(char direction, Body body) {
        int format = body.int8();
        if (format != 0 && format != 1) {
            throw body.wrong("the format is " + format);
        }
        int count = body.uint16();
        var formats = new ArrayList<Integer>();
        for (int i = 0; i < count; i++) {
            formats.add((int) (short) body.uint16());
        }
        return new CopyResponse(direction, format, formats);
    }

    private static List<byte[]> values(Body body) {
        int count = body.uint16();
        var values = new ArrayList<byte[]>();
        for (int i = 0; i < count; i++) {
            values.add(body.value());
        }
        return values;
    }

    private static Fields fields(Body body) {
        var fields = new ArrayList<Fields.Field>();
        for (byte letter = body.int8(); letter != 0; letter = body.int8()) {
            fields.add(new Fields.Field((char) (letter & 0xff), body.text()));
        }
        return new Fields(List.copyOf(fields));
    }

    private static Backend negotiate(Body body) {
        int major = body.uint16();
        int minor = body.uint16();
        int count = body.int32();
        if (count < 0) {
            throw body.wrong("it announces " + count + " options");
        }
        var options = new ArrayList<String>();
        for (int i = 0; i < count; i++) {
            options.add(body.text());
        }
        return new NegotiateProtocolVersion(major, minor, options);
    }

    private static Backend parameters(Body body) {
        int count = body.uint16();
        if (body.remaining() != count * 4) {
            throw body.wrong("it announces " + count + " types");
        }
        var types = new int[count];
        for (int i = 0; i < count; i++) {
            types[i] = body.int32();
        }
        return new ParameterDescription(types);
    }

    private static Backend ready(Body body) {
        byte status = body.int8();
        if (status != 'I' && status != 'T' && status != 'E') {
            throw body.wrong("the status is " + Frame.printable(status));
        }
        return new ReadyForQuery((char) status);
    }

    private static Backend rowDescription(Body body) {
        int count = body.uint16();
        var columns = new ArrayList<ColumnDescription>();
        for (int i = 0; i < count; i++) {
            columns.add(new ColumnDescription(
                    body.text(), body.int32(), (short) body.uint16(), body.int32(), (short) body.uint16(),
                    body.int32(), (short) body.uint16()));
        }
        return new RowDescription(columns);
    }

    private static String name(byte type) {
        return switch (type) {
            case 'R' -> "Authentication message";
            case 'K' -> "BackendKeyData";
            case 'C' -> "CommandComplete";
            case 'G', 'H', 'W' -> "CopyResponse";
            case 'D' -> "DataRow";
            case 'E' -> "ErrorResponse";
            case 'V' -> "FunctionCallResponse";
            case 'v' -> "NegotiateProtocolVersion";
            case 'N' -> "NoticeResponse";
            case 'A' -> "NotificationResponse";
            case 't' -> "ParameterDescription";
            case 'S' -> "ParameterStatus";
            case 'Z' -> "ReadyForQuery";
            case 'T' -> "RowDescription";
            default -> "message of type " + Frame.printable(type);
        };
    }
}
