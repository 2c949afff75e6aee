//! Transactions, and savepoints in them.

const std = @import("std");
const Connection = @import("connection.zig").Connection;
const Error = @import("failure.zig").Error;

/// A transaction: `defer transaction.deinit()` rolls it back unless it was committed.
pub const Transaction = struct {
    connection: *Connection,
    depth: u32,
    over: bool = false,

    pub fn begin(connection: *Connection) Error!Transaction {
        const depth = connection.depth;
        try command(connection, "begin", "savepoint tl", depth);
        connection.depth += 1;
        return .{ .connection = connection, .depth = depth };
    }

    /// Commits, or releases the savepoint. `error.Server` when a command in it had failed: it is rolled back then.
    pub fn commit(transaction: *Transaction) Error!void {
        if (transaction.over) return error.Misuse;
        const failed = transaction.connection.status() == 'E';
        if (failed) {
            try transaction.rollback();
            return error.Server;
        }
        transaction.end();
        try command(transaction.connection, "commit", "release savepoint tl", transaction.depth);
    }

    /// Undoes what was done in it.
    pub fn rollback(transaction: *Transaction) Error!void {
        if (transaction.over) return error.Misuse;
        transaction.end();
        try command(transaction.connection, "rollback", "rollback to savepoint tl", transaction.depth);
    }

    pub fn deinit(transaction: *Transaction) void {
        if (!transaction.over) transaction.rollback() catch {
            // In an unknown state it must not be used again.
            transaction.connection.closed = true;
        };
    }

    fn end(transaction: *Transaction) void {
        transaction.over = true;
        transaction.connection.depth = transaction.depth;
    }

    fn command(connection: *Connection, outermost: []const u8, nested: []const u8, depth: u32) Error!void {
        if (depth == 0) return connection.run(outermost);
        var buffer: [64]u8 = undefined;
        const text = std.fmt.bufPrint(&buffer, "{s}{d}", .{ nested, depth }) catch unreachable;
        return connection.run(text);
    }
};
