//! What can go wrong.

const std = @import("std");
const c = @import("c");

/// Errors of this client. `error.Server` and `error.Login` have their texts in `Connection.failure`.
pub const Error = error{
    /// The server says that it failed.
    Server,
    /// The server broke the protocol. The connection is closed.
    Protocol,
    /// The connection is closed, or was lost. What was under way may have run.
    Closed,
    /// The login failed.
    Login,
    /// A parameter does not fit a message, or their number is wrong.
    Unencodable,
    /// There is no such row or column.
    NoSuch,
    /// A value is not of the type that was asked for, or NULL where that has no null.
    Type,
    /// A bound of the library is reached.
    Limit,
    /// The call does not fit what the connection is doing.
    Misuse,
    OutOfMemory,
};

/// A status of the C library as an error; what is no failure is returned.
pub fn check(status: i32) Error!i32 {
    if (status >= 0) return status;
    return switch (status) {
        c.TRUNKLINE_UNENCODABLE => error.Unencodable,
        c.TRUNKLINE_PROTOCOL => error.Protocol,
        c.TRUNKLINE_CLOSED, c.TRUNKLINE_IO => error.Closed,
        c.TRUNKLINE_NO_SUCH => error.NoSuch,
        c.TRUNKLINE_TYPE => error.Type,
        c.TRUNKLINE_LIMIT => error.Limit,
        c.TRUNKLINE_SERVER => error.Server,
        c.TRUNKLINE_CONNECT => error.Login,
        else => error.Misuse,
    };
}

/// Bytes of ours, for a call.
pub fn lend(bytes: []const u8) c.trunkline_bytes {
    return .{ .data = bytes.ptr, .length = bytes.len };
}

/// Bytes that the library points to.
pub fn lent(bytes: c.trunkline_bytes) []const u8 {
    return if (bytes.length == 0) "" else bytes.data[0..bytes.length];
}

/// The server's last error, kept by the connection: valid until its next one.
pub const Failure = struct {
    code: [5]u8 = @splat('0'),
    text: [512]u8 = undefined,
    text_bytes: usize = 0,
    /// Which item of a batch failed.
    item: u64 = 0,

    /// The SQLSTATE; "00000" when the server said none.
    pub fn sqlstate(failure: *const Failure) []const u8 {
        return &failure.code;
    }

    /// What happened, cut after 512 bytes.
    pub fn message(failure: *const Failure) []const u8 {
        return failure.text[0..failure.text_bytes];
    }

    pub fn take(failure: *Failure, result: u64, item: u64) void {
        failure.* = .{ .item = item };
        var bytes: c.trunkline_bytes = undefined;
        if (c.trunkline_result_field(result, 'C', &bytes) == c.TRUNKLINE_OK and bytes.length == 5) {
            @memcpy(&failure.code, lent(bytes));
        }
        if (c.trunkline_result_field(result, 'M', &bytes) == c.TRUNKLINE_OK) failure.say(lent(bytes));
    }

    pub fn say(failure: *Failure, text: []const u8) void {
        failure.text_bytes = @min(text.len, failure.text.len);
        @memcpy(failure.text[0..failure.text_bytes], text[0..failure.text_bytes]);
    }
};
