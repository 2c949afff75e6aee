const std = @import("std");
const trunkline = @import("trunkline");
const server = @import("server.zig");
const expect = std.testing.expect;
const expectEqual = std.testing.expectEqual;
const expectError = std.testing.expectError;
const expectEqualStrings = std.testing.expectEqualStrings;

test "a wrong password is told with its SQLSTATE" {
    var config = server.config();
    config.password = "wrong";
    var failure: trunkline.Failure = .{};
    try expectError(error.Login, trunkline.Connection.openSaying(server.gpa, server.io, config, &failure));
    try expectEqualStrings("28P01", failure.sqlstate());
    try expect(std.mem.indexOf(u8, failure.message(), "wrong") == null);
}

test "nobody is there" {
    var config = server.config();
    config.port = 1;
    try expectError(error.Closed, trunkline.Connection.open(server.gpa, server.io, config));
}

test "a unix socket" {
    if (!server.isDirect()) return;
    var config = server.config();
    config.host = server.folder();
    config.user = "postgres";
    const connection = try trunkline.Connection.open(server.gpa, server.io, config);
    defer connection.close();
    try connection.run("select 1");
}

test "a connection that the server ends says so, and why" {
    const connection = try server.connect();
    defer connection.close();
    try expectError(error.Closed, connection.run("select pg_terminate_backend(pg_backend_pid())"));
    try expect(connection.failure.message().len > 0);
    try expectError(error.Closed, connection.run("select 1"));
}

test "a message of the server that is longer than agreed ends the connection" {
    var config = server.config();
    config.message_bytes_max = 100_000;
    const connection = try trunkline.Connection.open(server.gpa, server.io, config);
    defer connection.close();
    var fits = try connection.query("select repeat('x', 90000)", .{});
    fits.deinit();
    try expectError(error.Protocol, connection.query("select repeat('x', 110000)", .{}));
    try expectError(error.Closed, connection.run("select 1"));
}

test "URLs" {
    var arena = std.heap.ArenaAllocator.init(server.gpa);
    defer arena.deinit();
    const parse = trunkline.Config.parse;
    const config = try parse(arena.allocator(), "postgres://a%40b:p%2Fw@db.internal:6432/app?application_name=x%20y");
    try expectEqualStrings("a@b", config.user);
    try expectEqualStrings("p/w", config.password.?);
    try expectEqualStrings("db.internal", config.host);
    try expectEqual(6432, config.port);
    try expectEqualStrings("app", config.database);
    try expectEqualStrings("x y", config.application_name);
    const socket = try parse(arena.allocator(), "postgresql://app@/?host=%2Frun%2Fpostgresql");
    try expectEqualStrings("/run/postgresql", socket.host);
    try expectEqualStrings("app", socket.database);
    for ([_][]const u8{ "http://a@b/c", "nonsense", "postgres://a@b/c?sslmode=require", "postgres://a@b/c?port=x" }) |wrong| {
        try expectError(error.InvalidUrl, parse(arena.allocator(), wrong));
    }
}

fn borrow(pool: *trunkline.Pool, sum: *std.atomic.Value(i64)) void {
    for (0..50) |_| {
        const connection = pool.acquire() catch return;
        defer pool.release(connection);
        var result = connection.query("select 1", .{}) catch return;
        defer result.deinit();
        const row = result.one() catch return;
        _ = sum.fetchAdd(row.get(i64, 0) catch 0, .monotonic);
    }
}

test "a pool's connections are shared by threads, and never more than its size" {
    var pool = trunkline.Pool.init(server.gpa, server.io, server.config(), 3);
    defer pool.deinit();
    var sum: std.atomic.Value(i64) = .init(0);
    var threads: [8]std.Thread = undefined;
    for (&threads) |*thread| thread.* = try std.Thread.spawn(.{}, borrow, .{ &pool, &sum });
    for (threads) |thread| thread.join();
    try expectEqual(8 * 50, sum.load(.monotonic));
    try expect(pool.size <= 3 and pool.idle.items.len == pool.size);
    // What was left open is rolled back; what is closed is replaced.
    const left_open = try pool.acquire();
    try left_open.run("begin");
    pool.release(left_open);
    const again = try pool.acquire();
    try expectEqual('I', again.status());
    again.run("select pg_terminate_backend(pg_backend_pid())") catch {};
    const before = pool.size;
    pool.release(again);
    try expectEqual(before - 1, pool.size);
}
