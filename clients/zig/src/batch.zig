//! One statement, run with many sets of parameters.

const std = @import("std");
const c = @import("c");
const Result = @import("result.zig").Result;
const Statement = @import("statement.zig").Statement;
const failures = @import("failure.zig");
const value = @import("value.zig");
const Error = failures.Error;
const check = failures.check;

/// Values that are encoded with one call.
const values_max = 256;
/// Bytes that are encoded before they are sent: the server begins while the rest is encoded.
const piece_bytes = 64 << 10;

/// A batch: items are encoded and sent as they come, and answers are read whenever the server takes no more, so that a server that
/// waits for its answers to be read never waits for long. All items are one transaction, unless one is open.
pub const Batch = struct {
    statement: *Statement,
    session: u64,
    values: [values_max]c.trunkline_value = undefined,
    scratch: [values_max][value.scratch_bytes]u8 = undefined,
    /// Items in `values`.
    gathered: usize = 0,
    items: u64 = 0,

    pub fn begin(statement: *Statement) Error!Batch {
        if (statement.types.len > values_max) return error.Limit;
        return .{ .statement = statement, .session = try statement.connection.begin() };
    }

    /// Adds an item. On an error the batch is as it was, unless the connection is closed.
    pub inline fn push(batch: *Batch, parameters: anytype) Error!void {
        const count = parameters.len;
        const types = batch.statement.types;
        if (count != types.len) return error.Unencodable;
        const at = batch.gathered * count;
        inline for (0..count) |index| {
            batch.values[at + index] = try value.parameter(parameters[index], types[index], &batch.scratch[at + index]);
        }
        batch.gathered += 1;
        batch.items += 1;
        // What points to the caller's memory is encoded before that may change.
        if (comptime pointsElsewhere(@TypeOf(parameters))) return batch.encode();
        if ((batch.gathered + 1) * @max(1, count) > values_max) return batch.encode();
    }

    fn encode(batch: *Batch) Error!void {
        const count = batch.statement.types.len;
        const gathered = batch.gathered;
        batch.gathered = 0;
        if (gathered == 0) return;
        _ = try check(c.trunkline_encode_items(batch.session, batch.statement.template, &batch.values, count, gathered, null));
        var unsent: c.trunkline_bytes = undefined;
        _ = try check(c.trunkline_session_unsent(batch.session, &unsent));
        if (unsent.length < piece_bytes) return;
        const connection = batch.statement.connection;
        while (try connection.send()) try connection.exchange();
    }

    /// Runs it: one result with the rows of all items. An error is the first item's that failed, `Connection.failure.item`.
    pub fn run(batch: *Batch) Error!Result {
        const connection = batch.statement.connection;
        if (batch.items == 0) return Result.init(connection.gpa, 0, batch.session);
        const encoded = batch.encode();
        if (encoded) |_| {} else |wrong| if (wrong == error.Closed or wrong == error.Protocol) return wrong;
        _ = try check(c.trunkline_encode_sync(batch.session));
        const answer = connection.finish();
        try encoded;
        var result = Result.init(connection.gpa, (try answer).result, batch.session);
        result.described = batch.statement.described;
        return result;
    }
};

fn pointsElsewhere(comptime T: type) bool {
    inline for (@typeInfo(T).@"struct".field_types) |Field| {
        const Child = switch (@typeInfo(Field)) {
            .optional => |optional| optional.child,
            else => Field,
        };
        if (@typeInfo(Child) == .pointer) return true;
    }
    return false;
}
