//! PostgreSQL for Zig: connections, prepared statements, pipelined batches, transactions, COPY, LISTEN, a pool.
//!
//!     var connection = try trunkline.Connection.open(gpa, io, .{ .host = "localhost", .user = "app", .database = "app" });
//!     defer connection.close();
//!     var harbors = try connection.query("select id, name from harbors where id < $1", .{10});
//!     defer harbors.deinit();
//!     while (try harbors.next()) |row| std.debug.print("{d} {s}\n", .{ try row.get(i32, 0), try row.get([]const u8, 1) });
//!
//! The protocol and the login are the C library's (`libtrunkline_codec.a`), which has no I/O; sockets, memory and everything else
//! are Zig's. What the server says is wrong is `error.Server`, and `Connection.failure` has its SQLSTATE and texts.

const std = @import("std");

pub const Config = @import("config.zig").Config;
pub const Connection = @import("connection.zig").Connection;
pub const Statement = @import("statement.zig").Statement;
pub const Batch = @import("batch.zig").Batch;
pub const Result = @import("result.zig").Result;
pub const Row = @import("result.zig").Row;
pub const Failure = @import("failure.zig").Failure;
pub const Error = @import("failure.zig").Error;
pub const Transaction = @import("transaction.zig").Transaction;
pub const CopyIn = @import("copy.zig").CopyIn;
pub const CopyOut = @import("copy.zig").CopyOut;
pub const Notification = @import("notification.zig").Notification;
pub const Pool = @import("pool.zig").Pool;
/// The C library's own functions.
pub const codec = @import("c");
