package io.github.trunkline;

/** A value cannot be decoded as the program asked, or cannot be sent as the type that the server expects. */
public class ValueException extends PostgresException {
    private static final long serialVersionUID = 1;

    /** @param message which value of which column or parameter, and why */
    public ValueException(String message) {
        super(message);
    }

    /**
     * @param message which value of which column or parameter, and why
     * @param cause the exception of the codec
     */
    public ValueException(String message, Throwable cause) {
        super(message, cause);
    }

    /** 22P03, invalid_binary_representation: the nearest that PostgreSQL has. */
    @Override
    public String sqlState() {
        return "22P03";
    }
}
