const std = @import("std");
const server = @import("server.zig");
const expectEqual = std.testing.expectEqual;
const expectError = std.testing.expectError;
const expectEqualStrings = std.testing.expectEqualStrings;

test "a batch that no socket holds, in either direction" {
    const connection = try server.connect();
    defer connection.close();
    const statement = try connection.prepare("select n, repeat('x', 100) from generate_series(1, $1::int4) n");
    defer statement.deinit();
    const items = 20_000;
    for (0..2) |_| {
        var batch = try statement.batch();
        var expected: i64 = 0;
        var rows: u64 = 0;
        for (0..items) |item| {
            const n: i32 = @intCast(item % 10 + 1);
            try batch.push(.{n});
            expected += @divExact(n * (n + 1), 2);
            rows += @intCast(n);
        }
        var result = try batch.run();
        defer result.deinit();
        try expectEqual(items, result.items());
        try expectEqual(rows, result.len());
        var sum: i64 = 0;
        while (try result.next()) |row| {
            sum += try row.get(i32, 0);
            try expectEqual(100, (try row.get([]const u8, 1)).len);
        }
        try expectEqual(expected, sum);
        const last = try result.itemRows(items - 1);
        try expectEqual(10, last.count);
        try expectEqual(rows - 10, last.first);
    }
}

test "a batch's strings may change as soon as they were pushed" {
    const connection = try server.connect();
    defer connection.close();
    const statement = try connection.prepare("select $1::text, $2::int4");
    defer statement.deinit();
    var batch = try statement.batch();
    var buffer: [16]u8 = undefined;
    for (0..1000) |n| try batch.push(.{ try std.fmt.bufPrint(&buffer, "number {d}", .{n}), @as(?i32, null) });
    var result = try batch.run();
    defer result.deinit();
    var n: usize = 0;
    while (try result.next()) |row| : (n += 1) {
        try expectEqualStrings(try std.fmt.bufPrint(&buffer, "number {d}", .{n}), try row.get([]const u8, 0));
        try expectEqual(null, try row.get(?i32, 1));
    }
    try expectEqual(1000, n);
}

test "which item of a batch failed is told, and nothing of it stays" {
    const connection = try server.connect();
    defer connection.close();
    try connection.run("drop table if exists zig_once; create table zig_once (n int4 primary key)");
    const statement = try connection.prepare("insert into zig_once values ($1)");
    defer statement.deinit();
    var batch = try statement.batch();
    for (0..3000) |n| try batch.push(.{@as(i32, @intCast(if (n == 2500) 7 else n))});
    try expectError(error.Server, batch.run());
    try expectEqual(2500, connection.failure.item);
    try expectEqualStrings("23505", connection.failure.sqlstate());
    var again = try statement.batch();
    for (0..100) |n| try again.push(.{@as(i32, @intCast(n))});
    try expectError(error.Type, again.push(.{@as(i64, 1) << 40}));
    var result = try again.run();
    defer result.deinit();
    try expectEqual(100, result.affected());
    var none = try statement.batch();
    var empty = try none.run();
    defer empty.deinit();
    try expectEqual(0, empty.items());
    try connection.run("drop table zig_once");
}
