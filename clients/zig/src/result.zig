//! Results: rows in the order in which they came, read in blocks out of the library's buffer.

const std = @import("std");
const c = @import("c");
const failure = @import("failure.zig");
const value = @import("value.zig");
const Error = failure.Error;

/// Values that are looked up with one call.
const block_values = 512;

/// The rows of a query, or of all items of a batch.
pub const Result = struct {
    gpa: std.mem.Allocator,
    handle: u64,
    /// The session that gets its memory back.
    session: u64,
    rows: u64,
    columns: u32,
    /// Names of columns, where a statement had them described and the result has not.
    described: u64 = 0,
    block: []c.trunkline_value = &.{},
    at: u64 = 0,
    block_begin: u64 = 0,
    block_end: u64 = 0,

    pub fn init(gpa: std.mem.Allocator, handle: u64, session: u64) Result {
        var result: Result = .{ .gpa = gpa, .handle = handle, .session = session, .rows = 0, .columns = 0 };
        if (handle != 0) {
            _ = c.trunkline_result_rows(handle, &result.rows);
            _ = c.trunkline_result_columns(handle, &result.columns);
        }
        return result;
    }

    pub fn deinit(result: *Result) void {
        result.gpa.free(result.block);
        if (result.handle != 0) _ = c.trunkline_result_recycle(result.handle, result.session);
        result.* = undefined;
    }

    /// How many rows it has.
    pub fn len(result: *const Result) u64 {
        return result.rows;
    }

    /// The next row; it is valid until the next call, and what it points to until `deinit`.
    pub inline fn next(result: *Result) Error!?Row {
        if (result.at >= result.block_end) {
            if (result.at >= result.rows) return null;
            try result.fill();
        }
        const begin = (result.at - result.block_begin) * result.columns;
        result.at += 1;
        return .{ .values = result.block[begin..][0..result.columns], .result = result };
    }

    /// Begins again with the first row.
    pub fn reset(result: *Result) void {
        result.at = 0;
        result.block_begin = 0;
        result.block_end = 0;
    }

    /// The only row; `error.NoSuch` when there is none or more than one.
    pub fn one(result: *Result) Error!Row {
        if (result.rows != 1) return error.NoSuch;
        result.reset();
        return (try result.next()).?;
    }

    fn fill(result: *Result) Error!void {
        const rows_max: u64 = @max(1, block_values / @max(1, result.columns));
        const rows = @min(rows_max, result.rows - result.at);
        const wanted: usize = @intCast(@min(rows_max, result.rows) * result.columns);
        if (result.block.len < wanted) result.block = try result.gpa.realloc(result.block, wanted);
        _ = try failure.check(c.trunkline_result_values(result.handle, result.at, rows, result.columns, result.block.ptr));
        result.block_begin = result.at;
        result.block_end = result.at + rows;
    }

    /// A column's index by its name.
    pub fn column(result: *const Result, name: []const u8) Error!u32 {
        var index: u32 = 0;
        const of = if (result.described != 0) result.described else result.handle;
        _ = try failure.check(c.trunkline_result_column_index(of, failure.lend(name), &index));
        return index;
    }

    /// How many commands have ended in it: a batch's items.
    pub fn items(result: *const Result) u64 {
        var count: u64 = 0;
        _ = c.trunkline_result_items(result.handle, &count);
        return count;
    }

    pub const Rows = struct { first: u64, count: u64 };

    /// Which rows are an item's.
    pub fn itemRows(result: *const Result, item: u64) Error!Rows {
        var found: Rows = undefined;
        _ = try failure.check(c.trunkline_result_item_rows(result.handle, item, &found.first, &found.count));
        return found;
    }

    /// How many rows the command has changed or returned; of a batch, all its items.
    pub fn affected(result: *const Result) u64 {
        var sum: u64 = 0;
        for (0..result.items()) |item| {
            var count: u64 = 0;
            if (c.trunkline_result_affected(result.handle, item, &count) == c.TRUNKLINE_OK) sum += count;
        }
        return sum;
    }

    /// A command's tag, such as `INSERT 0 1`.
    pub fn tag(result: *const Result, item: u64) Error![]const u8 {
        var bytes: c.trunkline_bytes = undefined;
        _ = try failure.check(c.trunkline_result_tag(result.handle, item, &bytes));
        return failure.lent(bytes);
    }

    /// All rows as structs, columns by the names of fields. Strings point into the result; free the slice with `gpa`.
    pub fn all(result: *Result, comptime T: type) Error![]T {
        const list = try result.gpa.alloc(T, @intCast(result.rows));
        errdefer result.gpa.free(list);
        result.reset();
        const columns = try fieldColumns(T, result);
        for (list) |*item| item.* = try (try result.next()).?.toBy(T, columns);
        return list;
    }
};

fn fieldColumns(comptime T: type, result: *const Result) Error![std.meta.fieldNames(T).len]u32 {
    var columns: [std.meta.fieldNames(T).len]u32 = undefined;
    inline for (comptime std.meta.fieldNames(T), 0..) |name, index| columns[index] = try result.column(name);
    return columns;
}

/// A row.
pub const Row = struct {
    values: []const c.trunkline_value,
    result: *const Result,

    /// The value at an index, from 0.
    pub inline fn get(row: Row, comptime T: type, index: usize) Error!T {
        if (index >= row.values.len) return error.NoSuch;
        return value.decode(T, row.values[index]);
    }

    /// The value of the first column of a name.
    pub fn named(row: Row, comptime T: type, name: []const u8) Error!T {
        return row.get(T, try row.result.column(name));
    }

    /// The row as a struct: each field is the column of its name.
    pub fn to(row: Row, comptime T: type) Error!T {
        return row.toBy(T, try fieldColumns(T, row.result));
    }

    fn toBy(row: Row, comptime T: type, columns: [std.meta.fieldNames(T).len]u32) Error!T {
        var made: T = undefined;
        inline for (comptime std.meta.fieldNames(T), 0..) |name, index| {
            @field(made, name) = try row.get(@FieldType(T, name), columns[index]);
        }
        return made;
    }
};
