package io.github.trunkline;

/** A query was given up: its deadline passed, or its thread was interrupted. The server was told to stop it. */
public final class CanceledException extends PostgresException {
    private static final long serialVersionUID = 1;

    /**
     * @param message why it was given up
     * @param cause the server's or the socket's answer to that
     */
    public CanceledException(String message, Throwable cause) {
        super(message, cause);
    }

    /** 57014, query_canceled. */
    @Override
    public String sqlState() {
        return "57014";
    }
}
