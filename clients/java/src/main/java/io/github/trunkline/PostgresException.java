package io.github.trunkline;

/** What went wrong between a program and PostgreSQL. The subclasses say whose doing it was. */
public class PostgresException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** @param message what happened, where, and what to do */
    public PostgresException(String message) {
        super(message);
    }

    /**
     * @param message what happened, where, and what to do
     * @param cause what it came from
     */
    public PostgresException(String message, Throwable cause) {
        super(message, cause);
    }

    /** The SQLSTATE (five characters), or null where no server was asked. */
    public String sqlState() {
        return null;
    }
}
