package io.github.trunkline;

/** The client gave up a query, because its time was over or its thread was interrupted, and asked the server to cancel it. */
public final class CanceledException extends PostgresException {
    private static final long serialVersionUID = 1;

    /**
     * @param message why the client gave up
     * @param cause the error of the server or the socket that followed
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
