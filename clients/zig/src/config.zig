//! How to reach a server, and as whom.

const std = @import("std");

pub const Config = struct {
    /// A name or address; what begins with `/` is the folder of a unix socket.
    host: []const u8 = "localhost",
    port: u16 = 5432,
    user: []const u8,
    database: []const u8,
    password: ?[]const u8 = null,
    application_name: []const u8 = "",
    /// A message of the server that is longer ends the connection; 0 is the protocol's own bound, 1 GiB.
    message_bytes_max: u32 = 0,

    pub const ParseError = error{ InvalidUrl, OutOfMemory };

    /// Reads `postgres://user:password@host:port/database?application_name=...`; `host` may be a query parameter too, as for unix
    /// sockets. All strings are made in `arena`.
    pub fn parse(arena: std.mem.Allocator, url: []const u8) ParseError!Config {
        const uri = std.Uri.parse(url) catch return error.InvalidUrl;
        const known = std.mem.eql(u8, uri.scheme, "postgres") or std.mem.eql(u8, uri.scheme, "postgresql");
        if (!known) return error.InvalidUrl;
        const user = uri.user orelse return error.InvalidUrl;
        var config: Config = .{ .user = try raw(arena, user), .database = "" };
        if (uri.password) |password| config.password = try raw(arena, password);
        if (uri.host) |host| {
            const name = try raw(arena, host);
            if (name.len > 0) config.host = name;
        }
        if (uri.port) |port| config.port = port;
        const path = try raw(arena, uri.path);
        config.database = if (path.len > 1) path[1..] else config.user;
        if (uri.query) |query| {
            var pairs = std.mem.splitScalar(u8, try arena.dupe(u8, encoded(query)), '&');
            while (pairs.next()) |pair| try config.set(arena, pair);
        }
        return config;
    }

    fn set(config: *Config, arena: std.mem.Allocator, pair: []const u8) ParseError!void {
        const at = std.mem.indexOfScalar(u8, pair, '=') orelse return error.InvalidUrl;
        const value = std.Uri.percentDecodeInPlace(try arena.dupe(u8, pair[at + 1 ..]));
        const name = pair[0..at];
        if (std.mem.eql(u8, name, "host")) {
            config.host = value;
        } else if (std.mem.eql(u8, name, "port")) {
            config.port = std.fmt.parseInt(u16, value, 10) catch return error.InvalidUrl;
        } else if (std.mem.eql(u8, name, "application_name")) {
            config.application_name = value;
        } else if (std.mem.eql(u8, name, "password")) {
            config.password = value;
        } else if (std.mem.eql(u8, name, "sslmode")) {
            // There is no TLS here: what asks for it must not go on without.
            const plain = std.mem.eql(u8, value, "disable") or std.mem.eql(u8, value, "allow") or
                std.mem.eql(u8, value, "prefer");
            if (!plain) return error.InvalidUrl;
        } else return error.InvalidUrl;
    }

    fn raw(arena: std.mem.Allocator, component: std.Uri.Component) ParseError![]const u8 {
        return component.toRawMaybeAlloc(arena) catch return error.OutOfMemory;
    }

    fn encoded(component: std.Uri.Component) []const u8 {
        return switch (component) {
            .raw, .percent_encoded => |text| text,
        };
    }
};
