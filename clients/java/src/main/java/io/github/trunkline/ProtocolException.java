package io.github.trunkline;

/**
 * The server sent bytes that break the protocol. The connection is closed, since what follows cannot be understood; unless
 * it is a value's length within a row, which shows when the row is read and leaves the connection as it is.
 */
public class ProtocolException extends PostgresException {
    private static final long serialVersionUID = 1;

    /** @param message which message it was, what is wrong with it, and at which byte */
    public ProtocolException(String message) {
        super(message);
    }

    /** 08P01, protocol_violation. */
    @Override
    public String sqlState() {
        return "08P01";
    }
}
