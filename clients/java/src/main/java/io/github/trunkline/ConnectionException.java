package io.github.trunkline;

/** A connection cannot be made, or was lost. It is closed. Whether the server ran the last statement is unknown. */
public class ConnectionException extends PostgresException {
    private static final long serialVersionUID = 1;

    /** @param message what happened and where */
    public ConnectionException(String message) {
        super(message);
    }

    /**
     * @param message what happened and where
     * @param cause the error of the socket
     */
    public ConnectionException(String message, Throwable cause) {
        super(message, cause);
    }

    /** Class 08 of PostgreSQL's SQLSTATEs: 08006, connection_failure. */
    @Override
    public String sqlState() {
        return "08006";
    }
}
