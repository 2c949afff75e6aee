//! A pool: as many connections as were asked for at once, and never more than its size.

const std = @import("std");
const Config = @import("config.zig").Config;
const Connection = @import("connection.zig").Connection;
const Error = @import("failure.zig").Error;

pub const Pool = struct {
    gpa: std.mem.Allocator,
    io: std.Io,
    config: Config,
    size_max: usize,
    mutex: std.Io.Mutex = .init,
    returned: std.Io.Condition = .init,
    idle: std.ArrayList(*Connection) = .empty,
    /// Connections that are open, or being opened.
    size: usize = 0,

    /// What `config` points to must live as long as the pool.
    pub fn init(gpa: std.mem.Allocator, io: std.Io, config: Config, size_max: usize) Pool {
        return .{ .gpa = gpa, .io = io, .config = config, .size_max = size_max };
    }

    /// Closes the connections that were given back; all must have been.
    pub fn deinit(pool: *Pool) void {
        for (pool.idle.items) |connection| connection.close();
        pool.idle.deinit(pool.gpa);
        pool.* = undefined;
    }

    /// A connection: one that is idle, a new one, or, when there are as many as may be, the next that is given back.
    pub fn acquire(pool: *Pool) (Error || std.Io.Cancelable)!*Connection {
        {
            try pool.mutex.lock(pool.io);
            defer pool.mutex.unlock(pool.io);
            while (true) {
                if (pool.idle.pop()) |connection| return connection;
                if (pool.size < pool.size_max) break;
                try pool.returned.wait(pool.io, &pool.mutex);
            }
            // A place for it, so that giving it back cannot fail.
            try pool.idle.ensureTotalCapacity(pool.gpa, pool.size + 1);
            pool.size += 1;
        }
        return Connection.open(pool.gpa, pool.io, pool.config) catch |wrong| {
            pool.give(null);
            return wrong;
        };
    }

    /// Gives a connection back. An open transaction is rolled back; one that cannot be used any more is closed.
    pub fn release(pool: *Pool, connection: *Connection) void {
        if (connection.status() != 'I' and !connection.closed) {
            connection.run("rollback") catch {
                connection.closed = true;
            };
        }
        connection.depth = 0;
        _ = connection.begin() catch {
            connection.close();
            return pool.give(null);
        };
        pool.give(connection);
    }

    fn give(pool: *Pool, connection: ?*Connection) void {
        pool.mutex.lockUncancelable(pool.io);
        defer pool.mutex.unlock(pool.io);
        if (connection) |usable| pool.idle.appendAssumeCapacity(usable) else pool.size -= 1;
        pool.returned.signal(pool.io);
    }
};
