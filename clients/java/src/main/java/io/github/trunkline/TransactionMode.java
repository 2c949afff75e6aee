package io.github.trunkline;

/**
 * How a transaction begins.
 *
 * @param isolation its isolation level
 * @param readOnly true if it may not write
 * @param deferrable true if it waits for a safe snapshot (serializable and read only)
 */
public record TransactionMode(Isolation isolation, boolean readOnly, boolean deferrable) {
    /** As the session is configured. */
    public static final TransactionMode DEFAULT = new TransactionMode(Isolation.DEFAULT, false, false);
    /** Serializable. */
    public static final TransactionMode SERIALIZABLE = new TransactionMode(Isolation.SERIALIZABLE, false, false);
    /** Repeatable read. */
    public static final TransactionMode REPEATABLE_READ = new TransactionMode(Isolation.REPEATABLE_READ, false, false);
    /** Read only. */
    public static final TransactionMode READ_ONLY = new TransactionMode(Isolation.DEFAULT, true, false);

    /** Isolation levels. */
    public enum Isolation {
        /** As the session is configured. */
        DEFAULT,
        /** READ COMMITTED */
        READ_COMMITTED,
        /** REPEATABLE READ */
        REPEATABLE_READ,
        /** SERIALIZABLE */
        SERIALIZABLE
    }

    String sql() {
        return "begin" + options();
    }

    /** As BEGIN and SET TRANSACTION have them; empty if there are none. */
    String options() {
        return (isolation == Isolation.DEFAULT ? "" : " isolation level " + isolation.name().replace('_', ' '))
                + (readOnly ? " read only" : "") + (deferrable ? " deferrable" : "");
    }
}
