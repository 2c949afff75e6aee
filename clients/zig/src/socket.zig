//! A socket that waits only when told to. What systems do differently is here and nowhere else.

const std = @import("std");
const posix = std.posix;
const Config = @import("config.zig").Config;
const Error = @import("failure.zig").Error;

pub const Socket = struct {
    stream: std.Io.net.Stream,
    io: std.Io,

    pub fn connect(io: std.Io, config: Config) Error!Socket {
        if (config.host.len > 0 and config.host[0] == '/') {
            var buffer: [256]u8 = undefined;
            const path = std.fmt.bufPrint(&buffer, "{s}/.s.PGSQL.{d}", .{ config.host, config.port }) catch
                return error.Closed;
            const address = std.Io.net.UnixAddress.init(path) catch return error.Closed;
            return .{ .stream = address.connect(io) catch return error.Closed, .io = io };
        }
        const stream = if (std.Io.net.IpAddress.parse(config.host, config.port)) |address|
            address.connect(io, .{ .mode = .stream }) catch return error.Closed
        else |_| named: {
            const name = std.Io.net.HostName.init(config.host) catch return error.Closed;
            break :named name.connect(io, config.port, .{ .mode = .stream }) catch return error.Closed;
        };
        const on: c_int = 1;
        posix.setsockopt(stream.socket.handle, posix.IPPROTO.TCP, posix.TCP.NODELAY, std.mem.asBytes(&on)) catch {};
        return .{ .stream = stream, .io = io };
    }

    pub fn close(socket: *Socket) void {
        socket.stream.close(socket.io);
    }

    /// Sends what the system takes now; 0 when it takes nothing.
    pub fn send(socket: *Socket, bytes: []const u8) Error!usize {
        while (true) {
            const flags = posix.MSG.DONTWAIT | posix.MSG.NOSIGNAL;
            const sent = posix.system.send(socket.stream.socket.handle, bytes.ptr, bytes.len, flags);
            switch (posix.errno(sent)) {
                .SUCCESS => return @intCast(sent),
                .INTR => {},
                .AGAIN => return 0,
                else => return error.Closed,
            }
        }
    }

    /// Receives once, waiting for it; 0 is the end of the stream.
    pub fn receive(socket: *Socket, into: []u8) Error!usize {
        while (true) {
            const received = posix.system.recvfrom(socket.stream.socket.handle, into.ptr, into.len, 0, null, null);
            switch (posix.errno(received)) {
                .SUCCESS => return @intCast(received),
                .INTR => {},
                // Its like, where the socket itself does not wait.
                .AGAIN => _ = try socket.wait(false, null),
                else => return error.Closed,
            }
        }
    }

    pub const Ready = struct { readable: bool, writable: bool };

    /// Waits until it can be read or, where asked, written; at most for so many milliseconds.
    pub fn wait(socket: *Socket, write: bool, milliseconds: ?u31) Error!Ready {
        const events: i16 = if (write) posix.POLL.IN | posix.POLL.OUT else posix.POLL.IN;
        var fds = [_]posix.pollfd{.{ .fd = socket.stream.socket.handle, .events = events, .revents = 0 }};
        _ = posix.poll(&fds, if (milliseconds) |limit| limit else -1) catch return error.Closed;
        const found = fds[0].revents;
        return .{ .readable = found & ~@as(i16, posix.POLL.OUT) != 0, .writable = found & posix.POLL.OUT != 0 };
    }
};
