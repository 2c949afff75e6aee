package io.github.trunkline.wire;

import java.util.List;
import java.util.Map;

/** The messages a client sends, by the manual's chapter "Message Formats". Each method puts one into the buffer. */
public final class Frontend {
    private static final int CANCEL_REQUEST = 80877102;
    private static final int SSL_REQUEST = 80877103;
    private static final int GSSENC_REQUEST = 80877104;

    /** Where the messages go. */
    public final Out out;

    /** @param out where the messages go */
    public Frontend(Out out) {
        this.out = out;
    }

    /** StartupMessage of protocol {@code major.minor}. */
    public void startup(int major, int minor, List<? extends Map.Entry<String, String>> parameters) {
        int mark = out.openLength();
        out.int16(major).int16(minor);
        for (var parameter : parameters) {
            out.cString(parameter.getKey()).cString(parameter.getValue());
        }
        out.int8(0);
        out.patchMessageLength(mark);
    }

    /** SSLRequest: answered by one byte, S or N. */
    public void sslRequest() {
        out.int32(8).int32(SSL_REQUEST);
    }

    /** GSSENCRequest: answered by one byte, G or N. */
    public void gssEncRequest() {
        out.int32(8).int32(GSSENC_REQUEST);
    }

    /** CancelRequest, as the only message of a connection of its own. */
    public void cancelRequest(int processId, byte[] secretKey) {
        int mark = out.openLength();
        out.int32(CANCEL_REQUEST).int32(processId).bytes(secretKey);
        out.patchMessageLength(mark);
    }

    /** PasswordMessage: a password in clear text or hashed by MD5. */
    public void password(byte[] password) {
        int mark = begin('p');
        out.bytes(password).int8(0);
        out.patchMessageLength(mark);
    }

    /** SASLInitialResponse; {@code data} may be null. */
    public void saslInitial(String mechanism, byte[] data) {
        int mark = begin('p');
        out.cString(mechanism);
        value(data);
        out.patchMessageLength(mark);
    }

    /** SASLResponse or GSSResponse. */
    public void saslResponse(byte[] data) {
        int mark = begin('p');
        out.bytes(data);
        out.patchMessageLength(mark);
    }

    /** Query: the simple protocol. */
    public void query(String text) {
        int mark = begin('Q');
        out.cString(text);
        out.patchMessageLength(mark);
    }

    /** Parse. Parameters whose type is 0 or missing have theirs inferred. */
    public void parse(String name, String query, int... parameterTypes) {
        int mark = begin('P');
        out.cString(name).cString(query).int16(parameterTypes.length);
        for (int type : parameterTypes) {
            out.int32(type);
        }
        out.patchMessageLength(mark);
    }

    /** Bind with values that are encoded already; null is NULL. */
    public void bind(String portal, String statement, short[] parameterFormats, byte[][] values, short[] resultFormats) {
        int mark = beginBind(portal, statement, parameterFormats, values.length);
        for (byte[] value : values) {
            value(value);
        }
        endBind(mark, resultFormats);
    }

    /** The part of a Bind before its values, each of which has a length before it (-1 for NULL). */
    public int beginBind(String portal, String statement, short[] parameterFormats, int values) {
        int mark = begin('B');
        out.cString(portal).cString(statement);
        formats(parameterFormats);
        out.int16(values);
        return mark;
    }

    /** The part of a Bind after its values; {@code mark} is what {@link #beginBind} gave. */
    public void endBind(int mark, short[] resultFormats) {
        formats(resultFormats);
        out.patchMessageLength(mark);
    }

    /** Describe of a statement ({@code S}) or portal ({@code P}). */
    public void describe(char target, String name) {
        targeted('D', target, name);
    }

    /** Close of a statement ({@code S}) or portal ({@code P}). */
    public void close(char target, String name) {
        targeted('C', target, name);
    }

    /** Execute; {@code maxRows} 0 is all. */
    public void execute(String portal, int maxRows) {
        int mark = begin('E');
        out.cString(portal).int32(maxRows);
        out.patchMessageLength(mark);
    }

    /** FunctionCall. */
    public void functionCall(int function, short[] argumentFormats, byte[][] arguments, int resultFormat) {
        int mark = begin('F');
        out.int32(function);
        formats(argumentFormats);
        out.int16(arguments.length);
        for (byte[] argument : arguments) {
            value(argument);
        }
        out.int16(resultFormat);
        out.patchMessageLength(mark);
    }

    /** CopyData. */
    public void copyData(byte[] data, int offset, int length) {
        int mark = begin('d');
        out.bytes(data, offset, length);
        out.patchMessageLength(mark);
    }

    /** CopyFail: the server gives {@code reason} back in its error. */
    public void copyFail(String reason) {
        int mark = begin('f');
        out.cString(reason);
        out.patchMessageLength(mark);
    }

    /** CopyDone. */
    public void copyDone() {
        empty('c');
    }

    /** Flush. */
    public void flush() {
        empty('H');
    }

    /** Sync. */
    public void sync() {
        empty('S');
    }

    /** Terminate. */
    public void terminate() {
        empty('X');
    }

    private int begin(char type) {
        out.int8(type);
        return out.openLength();
    }

    private void empty(char type) {
        out.int8(type).int32(4);
    }

    private void targeted(char type, char target, String name) {
        int mark = begin(type);
        out.int8(target).cString(name);
        out.patchMessageLength(mark);
    }

    private void formats(short[] formats) {
        out.int16(formats.length);
        for (short format : formats) {
            out.int16(format);
        }
    }

    private void value(byte[] value) {
        if (value == null) {
            out.int32(-1);
        } else {
            out.int32(value.length).bytes(value);
        }
    }
}
