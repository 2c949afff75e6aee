//! The vectors that all languages share: what the library encodes and decodes is what they say.

const std = @import("std");
const trunkline = @import("trunkline");
const c = trunkline.codec;
const gpa = std.testing.allocator;
const expect = std.testing.expect;
const expectEqual = std.testing.expectEqual;
const expectEqualSlices = std.testing.expectEqualSlices;
const Object = std.json.ObjectMap;

fn vectors(arena: std.mem.Allocator, name: []const u8) ![]std.json.Value {
    const folder = std.mem.span(std.c.getenv("TRUNKLINE_VECTORS") orelse @panic("TRUNKLINE_VECTORS is not set"));
    const path = try std.fs.path.join(arena, &.{ folder, name });
    const found = try std.Io.Dir.cwd().readFileAlloc(std.testing.io, path, arena, .limited(64 << 20));
    return (try std.json.parseFromSliceLeaky(std.json.Value, arena, found, .{})).array.items;
}

fn unhex(arena: std.mem.Allocator, digits: []const u8) ![]u8 {
    const bytes = try arena.alloc(u8, digits.len / 2);
    return std.fmt.hexToBytes(bytes, digits);
}

/// A text of a message, whether it is there as UTF-8 or as hexadecimal digits.
fn text(arena: std.mem.Allocator, message: Object, name: []const u8) ![]const u8 {
    if (message.get(name)) |found| return found.string;
    const key = try std.mem.concat(arena, u8, &.{ name, "_hex" });
    return unhex(arena, message.get(key).?.string);
}

fn lend(bytes: []const u8) c.trunkline_bytes {
    return .{ .data = bytes.ptr, .length = bytes.len };
}

fn lent(bytes: c.trunkline_bytes) []const u8 {
    return if (bytes.length == 0) "" else bytes.data[0..bytes.length];
}

fn encode(arena: std.mem.Allocator, session: u64, message: Object) !?i32 {
    const kind = message.get("type").?.string;
    const is = std.mem.eql;
    if (is(u8, kind, "Query")) return c.trunkline_encode_query(session, lend(try text(arena, message, "text")));
    if (is(u8, kind, "Sync")) return c.trunkline_encode_sync(session);
    if (is(u8, kind, "Flush")) return c.trunkline_encode_flush(session);
    if (is(u8, kind, "Terminate")) return c.trunkline_encode_terminate(session);
    if (is(u8, kind, "CopyDone")) return c.trunkline_encode_copy_done(session);
    if (is(u8, kind, "CopyData")) return c.trunkline_encode_copy_data(session, lend(try text(arena, message, "data")));
    if (is(u8, kind, "CopyFail")) return c.trunkline_encode_copy_fail(session, lend(try text(arena, message, "message")));
    if (is(u8, kind, "Describe") or is(u8, kind, "Close")) {
        const what = message.get("target").?.string[0];
        const name = lend(try text(arena, message, "name"));
        return if (kind[0] == 'D') c.trunkline_encode_describe(session, what, name) else c.trunkline_encode_close(session, what, name);
    }
    if (is(u8, kind, "Execute")) {
        const max_rows: i32 = @intCast(message.get("max_rows").?.integer);
        return c.trunkline_encode_execute(session, lend(try text(arena, message, "portal")), max_rows, 0);
    }
    if (is(u8, kind, "Parse")) {
        const given = message.get("parameter_types").?.array.items;
        const types = try arena.alloc(u32, given.len);
        for (types, given) |*to, from| to.* = @intCast(from.integer);
        const name = lend(try text(arena, message, "name"));
        return c.trunkline_encode_parse(session, name, lend(try text(arena, message, "query")), types.ptr, types.len);
    }
    return null;
}

test "what is encoded is what the vectors say" {
    var arena_state = std.heap.ArenaAllocator.init(gpa);
    defer arena_state.deinit();
    const arena = arena_state.allocator();
    var compared: usize = 0;
    for (try vectors(arena, "frontend.json")) |entry| {
        var session: u64 = 0;
        try expectEqual(c.TRUNKLINE_OK, c.trunkline_session_new(&session));
        defer _ = c.trunkline_session_free(session);
        const status = try encode(arena, session, entry.object.get("message").?.object) orelse continue;
        try expectEqual(c.TRUNKLINE_OK, status);
        var unsent: c.trunkline_bytes = undefined;
        try expectEqual(c.TRUNKLINE_OK, c.trunkline_session_unsent(session, &unsent));
        try expectEqualSlices(u8, try unhex(arena, entry.object.get("hex").?.string), lent(unsent));
        compared += 1;
    }
    try expect(compared >= 15);
}

/// Feeds a message in two pieces, cut at `cut`, to a session that awaits an Execute's answer.
fn fed(session: u64, bytes: []const u8, cut: usize) !i32 {
    var event: c.trunkline_event = undefined;
    const first = c.trunkline_session_feed(session, lend(bytes[0..cut]));
    if (first != c.TRUNKLINE_OK) return first;
    // Nothing may be made of a part.
    if (cut < bytes.len) try expectEqual(c.TRUNKLINE_NONE, c.trunkline_session_next(session, &event));
    return c.trunkline_session_feed(session, lend(bytes[cut..]));
}

fn executing() !u64 {
    var session: u64 = 0;
    try expectEqual(c.TRUNKLINE_OK, c.trunkline_session_new(&session));
    try expectEqual(c.TRUNKLINE_OK, c.trunkline_encode_execute(session, lend(""), 0, 1));
    try expectEqual(c.TRUNKLINE_OK, c.trunkline_encode_sync(session));
    return session;
}

fn checkRow(arena: std.mem.Allocator, message: Object, bytes: []const u8, cut: usize) !void {
    const session = try executing();
    defer _ = c.trunkline_session_free(session);
    try expectEqual(c.TRUNKLINE_OK, try fed(session, bytes, cut));
    const end = "C\x00\x00\x00\x0dSELECT 1\x00";
    try expectEqual(c.TRUNKLINE_OK, c.trunkline_session_feed(session, lend(end)));
    var event: c.trunkline_event = undefined;
    try expectEqual(c.TRUNKLINE_OK, c.trunkline_session_next(session, &event));
    defer _ = c.trunkline_result_free(event.result);
    const expected = message.get("values_hex").?.array.items;
    var columns: u32 = 0;
    try expectEqual(c.TRUNKLINE_OK, c.trunkline_result_columns(event.result, &columns));
    try expectEqual(expected.len, columns);
    for (expected, 0..) |value, index| {
        var found: c.trunkline_value = undefined;
        const status = c.trunkline_result_value(event.result, 0, @intCast(index), &found);
        if (value == .null) {
            try expectEqual(c.TRUNKLINE_NULL, status);
        } else {
            try expectEqual(c.TRUNKLINE_OK, status);
            try expectEqualSlices(u8, try unhex(arena, value.string), found.data[0..@intCast(found.length)]);
        }
    }
}

fn checkFields(arena: std.mem.Allocator, message: Object, bytes: []const u8, cut: usize) !void {
    const session = try executing();
    defer _ = c.trunkline_session_free(session);
    try expectEqual(c.TRUNKLINE_OK, try fed(session, bytes, cut));
    var event: c.trunkline_event = undefined;
    try expectEqual(c.TRUNKLINE_OK, c.trunkline_session_next(session, &event));
    defer _ = c.trunkline_result_free(event.result);
    _ = arena;
    var seen: [256]bool = @splat(false);
    for (message.get("fields").?.array.items) |field| {
        const letter = field.array.items[0].string[0];
        // Of several fields of a letter the first is told.
        if (seen[letter]) continue;
        seen[letter] = true;
        var found: c.trunkline_bytes = undefined;
        try expectEqual(c.TRUNKLINE_OK, c.trunkline_result_field(event.result, letter, &found));
        try expectEqualSlices(u8, field.array.items[1].string, lent(found));
    }
}

test "what is decoded is what the vectors say, wherever it is cut" {
    var arena_state = std.heap.ArenaAllocator.init(gpa);
    defer arena_state.deinit();
    const arena = arena_state.allocator();
    var rows: usize = 0;
    var errors: usize = 0;
    for (try vectors(arena, "backend.json")) |entry| {
        const message = entry.object.get("message").?.object;
        const kind = message.get("type").?.string;
        const bytes = try unhex(arena, entry.object.get("hex").?.string);
        const is_row = std.mem.eql(u8, kind, "DataRow");
        const has_fields = std.mem.eql(u8, kind, "ErrorResponse") or std.mem.eql(u8, kind, "NoticeResponse");
        if (!is_row and !(has_fields and message.get("fields") != null)) continue;
        var cut: usize = 0;
        while (cut <= bytes.len) : (cut += @max(1, bytes.len / 64)) {
            if (is_row) try checkRow(arena, message, bytes, cut) else try checkFields(arena, message, bytes, cut);
        }
        rows += @intFromBool(is_row);
        errors += @intFromBool(has_fields);
    }
    try expect(rows >= 3 and errors >= 2);
}

test "what is malformed is refused, now or where it is touched" {
    var arena_state = std.heap.ArenaAllocator.init(gpa);
    defer arena_state.deinit();
    const arena = arena_state.allocator();
    var refused: usize = 0;
    for (try vectors(arena, "malformed.json")) |entry| {
        if (!std.mem.eql(u8, entry.object.get("direction").?.string, "backend")) continue;
        const session = try executing();
        defer _ = c.trunkline_session_free(session);
        const bytes = try unhex(arena, entry.object.get("hex").?.string);
        const status = c.trunkline_session_feed(session, lend(bytes));
        if (status == c.TRUNKLINE_PROTOCOL) {
            refused += 1;
            continue;
        }
        // A row is looked at where it is touched; what has not come to its end waits.
        try expectEqual(c.TRUNKLINE_OK, status);
        try expect(bytes[0] == 'D');
    }
    try expect(refused >= 10);
}
