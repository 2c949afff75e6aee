package io.github.trunkline;

import io.github.trunkline.row.Rows;
import java.util.function.Function;

/** A connection's transactions and the savepoints within them. Each is committed (or released), or undone. */
final class Transactions {
    private final Connection connection;
    private int savepoints;

    Transactions(Connection connection) {
        this.connection = connection;
    }

    <T> T run(TransactionMode mode, Function<Connection, T> work) {
        if (connection.inTransaction()) {
            return savepoint(mode, work);
        }
        connection.execute(mode.sql());
        return guarded(work, "commit", "rollback");
    }

    <T> T savepoint(TransactionMode mode, Function<Connection, T> work) {
        String name = "trunkline_" + savepoints++;
        try {
            connection.execute("savepoint " + name);
            return guarded(tx -> {
                if (!mode.equals(TransactionMode.DEFAULT)) {
                    // The server refuses some options within a transaction, such as another isolation level.
                    tx.execute("set transaction" + mode.options());
                }
                return work.apply(tx);
            }, "release savepoint " + name,
                    "rollback to savepoint " + name + "; release savepoint " + name);
        } finally {
            savepoints--;
        }
    }

    private <T> T guarded(Function<Connection, T> work, String good, String bad) {
        T result;
        Rows end;
        try {
            result = work.apply(connection);
            // This also fails if an earlier statement has failed, or if a deferred constraint fails now.
            end = connection.script(good).get(0);
        } catch (Throwable e) {
            undo(bad, e);
            throw e;
        }
        if (end.tag().equals("ROLLBACK")) {
            // COMMIT of a failed transaction says so by its tag alone.
            throw new PostgresException("the transaction was rolled back instead of committed: a statement in it had "
                    + "failed, and its exception was not passed on");
        }
        return result;
    }

    private void undo(String sql, Throwable because) {
        try {
            if (connection.isOpen() && connection.inTransaction()) {
                connection.script(sql);
            }
        } catch (RuntimeException e) {
            // Nobody knows whether the transaction is still open, and no later statement may run in it by mistake.
            connection.close();
            because.addSuppressed(e);
        }
    }
}
