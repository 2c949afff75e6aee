//! The server that the tests are run against.

const std = @import("std");
const trunkline = @import("trunkline");

pub const gpa = std.testing.allocator;
pub const io = std.testing.io;

fn setting(which: usize) []const u8 {
    const all = std.c.getenv("TRUNKLINE_TEST_SERVER") orelse @panic("TRUNKLINE_TEST_SERVER is not set");
    var parts = std.mem.tokenizeScalar(u8, std.mem.span(all), ' ');
    for (0..which) |_| _ = parts.next();
    return parts.next() orelse @panic("TRUNKLINE_TEST_SERVER is PORT SOCKET_FOLDER MODE");
}

pub fn isDirect() bool {
    return std.mem.eql(u8, setting(2), "direct");
}

pub fn folder() []const u8 {
    return setting(1);
}

pub fn config() trunkline.Config {
    return .{
        .host = "127.0.0.1",
        .port = std.fmt.parseInt(u16, setting(0), 10) catch unreachable,
        .user = "app",
        .database = "app",
        .password = "correct-horse",
        .application_name = "zig",
    };
}

pub fn connect() !*trunkline.Connection {
    return trunkline.Connection.open(gpa, io, config());
}
