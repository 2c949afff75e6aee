package io.github.trunkline;

/** An error between a program and PostgreSQL. The subclasses say which side caused it. */
public class PostgresException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** @param message what happened, where, and what to do */
    public PostgresException(String message) {
        super(message);
    }

    /**
     * @param message what happened, where, and what to do
     * @param cause the underlying error
     */
    public PostgresException(String message, Throwable cause) {
        super(message, cause);
    }

    /** The SQLSTATE (five characters), or null where no server was asked. */
    public String sqlState() {
        return null;
    }
}
