//! COPY, in both directions.

const c = @import("c");
const Connection = @import("connection.zig").Connection;
const failures = @import("failure.zig");
const Error = failures.Error;
const check = failures.check;
const lend = failures.lend;

/// Copied data is sent when there is this much of it.
const piece_bytes = 64 << 10;

fn begun(connection: *Connection, text: []const u8, wanted: i32) Error!void {
    const session = try connection.begin();
    _ = try check(c.trunkline_encode_query(session, lend(text)));
    var failed = false;
    while (true) {
        const event = try connection.wait();
        if (event.kind == wanted) return;
        if (event.kind == c.TRUNKLINE_EVENT_READY) return if (failed) error.Server else error.Misuse;
        failed = try connection.otherwise(event) or failed;
    }
}

/// Data for a `COPY ... FROM STDIN`: `write`, then `finish` or `cancel`.
pub const CopyIn = struct {
    connection: *Connection,

    pub fn begin(connection: *Connection, text: []const u8) Error!CopyIn {
        try begun(connection, text, c.TRUNKLINE_EVENT_COPY_IN);
        return .{ .connection = connection };
    }

    /// Gives data. It may be sent later.
    pub fn write(copy: CopyIn, data: []const u8) Error!void {
        const connection = copy.connection;
        _ = try check(c.trunkline_encode_copy_data(connection.session, lend(data)));
        var unsent: c.trunkline_bytes = undefined;
        _ = try check(c.trunkline_session_unsent(connection.session, &unsent));
        if (unsent.length < piece_bytes) return;
        while (try connection.send()) try connection.exchange();
    }

    /// Ends it, and says how many rows were copied.
    pub fn finish(copy: CopyIn) Error!u64 {
        const connection = copy.connection;
        _ = try check(c.trunkline_encode_copy_done(connection.session));
        const answer = try connection.finish();
        defer connection.free(answer.result);
        var rows: u64 = 0;
        _ = try check(c.trunkline_result_affected(answer.result, 0, &rows));
        return rows;
    }

    /// Gives it up: nothing was copied.
    pub fn cancel(copy: CopyIn) Error!void {
        const connection = copy.connection;
        _ = try check(c.trunkline_encode_copy_fail(connection.session, lend("the copy was given up")));
        _ = connection.finish() catch |wrong| return if (wrong != error.Server) wrong;
    }
};

/// Data of a `COPY ... TO STDOUT`: `next` until it is null.
pub const CopyOut = struct {
    connection: *Connection,
    piece: u64 = 0,
    over: bool = false,

    pub fn begin(connection: *Connection, text: []const u8) Error!CopyOut {
        try begun(connection, text, c.TRUNKLINE_EVENT_COPY_OUT);
        return .{ .connection = connection };
    }

    /// The next piece: some number of rows, valid until the next call.
    pub fn next(copy: *CopyOut) Error!?[]const u8 {
        const connection = copy.connection;
        connection.free(copy.piece);
        copy.piece = 0;
        var failed = false;
        while (!copy.over) {
            const event = try connection.wait();
            switch (event.kind) {
                c.TRUNKLINE_EVENT_COPY_DATA => {
                    copy.piece = event.result;
                    var data: c.trunkline_bytes = undefined;
                    _ = try check(c.trunkline_result_copied(event.result, &data));
                    return failures.lent(data);
                },
                c.TRUNKLINE_EVENT_READY => {
                    copy.over = true;
                    if (failed) return error.Server;
                },
                else => failed = try connection.otherwise(event) or failed,
            }
        }
        return null;
    }

    /// Reads the rest and throws it away.
    pub fn deinit(copy: *CopyOut) void {
        while (copy.next() catch null) |_| {}
        copy.connection.free(copy.piece);
        copy.piece = 0;
    }
};
