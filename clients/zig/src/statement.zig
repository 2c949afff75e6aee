//! Prepared statements.

const std = @import("std");
const c = @import("c");
const Batch = @import("batch.zig").Batch;
const Connection = @import("connection.zig").Connection;
const Result = @import("result.zig").Result;
const failures = @import("failure.zig");
const value = @import("value.zig");
const Error = failures.Error;
const check = failures.check;
const lend = failures.lend;

/// A statement that the server keeps for its connection. Numbers, booleans, texts and bytea travel in their binary form; a statement
/// with a column of another type has its columns as text.
pub const Statement = struct {
    connection: *Connection,
    name_buffer: [24]u8,
    name_bytes: usize,
    /// The template of its Binds.
    template: u64,
    /// Its columns and parameters.
    described: u64,
    types: []u32,

    pub fn prepare(connection: *Connection, text: []const u8) Error!*Statement {
        const gpa = connection.gpa;
        const statement = try gpa.create(Statement);
        errdefer gpa.destroy(statement);
        connection.statements_made += 1;
        statement.* = .{
            .connection = connection,
            .name_buffer = undefined,
            .name_bytes = 0,
            .template = 0,
            .described = 0,
            .types = &.{},
        };
        const made = std.fmt.bufPrint(&statement.name_buffer, "tl{d}", .{connection.statements_made}) catch unreachable;
        statement.name_bytes = made.len;
        const session = try connection.begin();
        const encoded = encode(session, made, text);
        _ = try check(c.trunkline_encode_sync(session));
        const answer = connection.finish();
        _ = try encoded;
        statement.described = (try answer).described;
        errdefer connection.free(statement.described);
        try statement.describe();
        return statement;
    }

    fn encode(session: u64, named: []const u8, text: []const u8) Error!i32 {
        _ = try check(c.trunkline_encode_parse(session, lend(named), lend(text), null, 0));
        return check(c.trunkline_encode_describe(session, 'S', lend(named)));
    }

    fn describe(statement: *Statement) Error!void {
        const gpa = statement.connection.gpa;
        var count: u32 = 0;
        _ = try check(c.trunkline_result_parameters(statement.described, &count));
        statement.types = try gpa.alloc(u32, count);
        errdefer gpa.free(statement.types);
        const formats = try gpa.alloc(i32, count);
        defer gpa.free(formats);
        for (statement.types, formats, 0..) |*type_oid, *format, index| {
            _ = try check(c.trunkline_result_parameter_type(statement.described, @intCast(index), type_oid));
            format.* = @intFromBool(value.isBinary(type_oid.*));
        }
        var binary = true;
        _ = try check(c.trunkline_result_columns(statement.described, &count));
        for (0..count) |index| {
            var column: c.trunkline_column = undefined;
            _ = try check(c.trunkline_result_column(statement.described, @intCast(index), &column));
            binary = binary and value.isBinary(column.type_oid);
        }
        const named = lend(statement.name());
        const made = c.trunkline_template_new(named, formats.ptr, formats.len, @intFromBool(binary), &statement.template);
        _ = try check(made);
    }

    pub fn name(statement: *const Statement) []const u8 {
        return statement.name_buffer[0..statement.name_bytes];
    }

    /// Closes it; the server is told with the next turn.
    pub fn deinit(statement: *Statement) void {
        const connection = statement.connection;
        if (!connection.closed and connection.status() != 'E') {
            if (connection.begin()) |session| {
                _ = c.trunkline_encode_close(session, 'S', lend(statement.name()));
                _ = c.trunkline_encode_sync(session);
                if (connection.finish()) |answer| connection.free(answer.result) else |_| {}
            } else |_| {}
        }
        _ = c.trunkline_template_free(statement.template);
        connection.free(statement.described);
        connection.gpa.free(statement.types);
        connection.gpa.destroy(statement);
    }

    /// Runs it once.
    pub fn query(statement: *Statement, parameters: anytype) Error!Result {
        const count = parameters.len;
        if (count != statement.types.len) return error.Unencodable;
        var scratch: [count][value.scratch_bytes]u8 = undefined;
        var values: [count]c.trunkline_value = undefined;
        inline for (0..count) |index| {
            values[index] = try value.parameter(parameters[index], statement.types[index], &scratch[index]);
        }
        const connection = statement.connection;
        const session = try connection.begin();
        _ = try check(c.trunkline_encode_items(session, statement.template, &values, count, 1, null));
        _ = try check(c.trunkline_encode_sync(session));
        var result = Result.init(connection.gpa, (try connection.finish()).result, session);
        result.described = statement.described;
        return result;
    }

    /// Runs it once for its effect: how many rows it changed.
    pub fn execute(statement: *Statement, parameters: anytype) Error!u64 {
        var result = try statement.query(parameters);
        defer result.deinit();
        return result.affected();
    }

    /// Begins a batch: the statement with many sets of parameters, one transaction.
    pub fn batch(statement: *Statement) Error!Batch {
        return Batch.begin(statement);
    }
};
