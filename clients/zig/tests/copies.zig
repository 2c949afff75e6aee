const std = @import("std");
const server = @import("server.zig");
const expect = std.testing.expect;
const expectEqual = std.testing.expectEqual;
const expectError = std.testing.expectError;
const expectEqualStrings = std.testing.expectEqualStrings;

test "COPY there and back" {
    const connection = try server.connect();
    defer connection.close();
    try connection.run("drop table if exists zig_copied; create table zig_copied (n int4, t text)");
    const copy = try connection.copyIn("copy zig_copied from stdin");
    var buffer: [64]u8 = undefined;
    for (0..50_000) |n| try copy.write(try std.fmt.bufPrint(&buffer, "{d}\tnumber {d}\n", .{ n, n }));
    try expectEqual(50_000, try copy.finish());

    var out = try connection.copyOut("copy zig_copied to stdout");
    defer out.deinit();
    var lines: usize = 0;
    while (try out.next()) |piece| lines += std.mem.countScalar(u8, piece, '\n');
    try expectEqual(50_000, lines);

    // Given up, refused, and not a COPY at all: the connection goes on.
    const given_up = try connection.copyIn("copy zig_copied from stdin");
    try given_up.write("1\tone\n");
    try given_up.cancel();
    const refused = try connection.copyIn("copy zig_copied from stdin");
    try refused.write("one\n");
    try expectError(error.Server, refused.finish());
    try expectEqualStrings("22P02", connection.failure.sqlstate());
    try expectError(error.Misuse, connection.copyIn("select 1"));
    try expectError(error.Server, connection.copyOut("copy zig_copied from stdin"));
    try expectError(error.Server, connection.run("copy zig_copied from stdin"));
    var left = try connection.copyOut("copy zig_copied to stdout");
    _ = try left.next();
    left.deinit();
    try connection.run("drop table zig_copied");
}

test "LISTEN and NOTIFY" {
    const connection = try server.connect();
    defer connection.close();
    const other = try server.connect();
    defer other.close();
    try connection.listen("a \"channel\"");
    try expectEqual(null, try connection.notification(0));
    try other.run("notify \"a \"\"channel\"\"\", 'hello'; notify \"a \"\"channel\"\"\", 'again'");
    for ([_][]const u8{ "hello", "again" }) |expected| {
        const found = (try connection.notification(60_000)).?;
        defer found.deinit(server.gpa);
        try expectEqualStrings("a \"channel\"", found.channel);
        try expectEqualStrings(expected, found.payload);
        try expect(found.process_id > 0);
    }
    // One that comes in the middle of a query is kept.
    try other.run("notify \"a \"\"channel\"\"\", 'kept'");
    var result = try connection.query("select 1", .{});
    result.deinit();
    const kept = (try connection.notification(60_000)).?;
    defer kept.deinit(server.gpa);
    try expectEqualStrings("kept", kept.payload);
}
