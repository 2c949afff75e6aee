//! Zig's values as parameters, and columns as Zig's values.

const std = @import("std");
const c = @import("c");
const Error = @import("failure.zig").Error;

/// Object ids of types.
pub const Oid = struct {
    pub const boolean = 16;
    pub const bytea = 17;
    pub const int8 = 20;
    pub const int2 = 21;
    pub const int4 = 23;
    pub const text = 25;
    pub const oid = 26;
    pub const float4 = 700;
    pub const float8 = 701;
    pub const varchar = 1043;
};

/// Types whose binary form is read and written here; all others go as text.
pub fn isBinary(type_oid: u32) bool {
    return switch (type_oid) {
        Oid.boolean, Oid.bytea, Oid.int8, Oid.int2, Oid.int4, Oid.text, Oid.oid, Oid.float4, Oid.float8, Oid.varchar => true,
        else => false,
    };
}

/// Bytes that a parameter's value may need beside its own.
pub const scratch_bytes = 64;

/// A parameter. `type_oid` is the server's type of it, where it is known: then numbers and booleans go in their binary form, else as
/// text. `scratch` must live as long as the result.
pub fn parameter(value: anytype, type_oid: ?u32, scratch: *[scratch_bytes]u8) Error!c.trunkline_value {
    const T = @TypeOf(value);
    switch (@typeInfo(T)) {
        .null => return .{ .data = null, .length = -1, .format = format(type_oid) },
        .optional => return if (value) |some| parameter(some, type_oid, scratch) else parameter(null, type_oid, scratch),
        .bool => {
            if (type_oid == Oid.boolean) return of(scratch, &.{@intFromBool(value)}, 1);
            return if (format(type_oid) == 0) of(scratch, if (value) "t" else "f", 0) else error.Type;
        },
        .int, .comptime_int => return integer(std.math.cast(i64, value) orelse return error.Type, type_oid, scratch),
        .float, .comptime_float => return float(value, type_oid, scratch),
        .@"enum" => return bytes(@tagName(value), type_oid),
        else => return bytes(value, type_oid),
    }
}

fn format(type_oid: ?u32) i32 {
    return if (type_oid) |oid| @intFromBool(isBinary(oid)) else 0;
}

fn bytes(value: []const u8, type_oid: ?u32) Error!c.trunkline_value {
    // The binary form of a text is the text; that of a number is not.
    const binary = format(type_oid) == 1;
    if (binary) switch (type_oid.?) {
        Oid.bytea, Oid.text, Oid.varchar => {},
        else => return error.Type,
    };
    const length = std.math.cast(i32, value.len) orelse return error.Unencodable;
    return .{ .data = value.ptr, .length = length, .format = @intFromBool(binary) };
}

fn of(scratch: *[scratch_bytes]u8, value: []const u8, as: i32) c.trunkline_value {
    @memcpy(scratch[0..value.len], value);
    return .{ .data = scratch, .length = @intCast(value.len), .format = as };
}

fn fixed(comptime T: type, value: i64, scratch: *[scratch_bytes]u8) Error!c.trunkline_value {
    const narrow = std.math.cast(T, value) orelse return error.Type;
    std.mem.writeInt(T, scratch[0..@sizeOf(T)], narrow, .big);
    return .{ .data = scratch, .length = @sizeOf(T), .format = 1 };
}

fn integer(value: i64, type_oid: ?u32, scratch: *[scratch_bytes]u8) Error!c.trunkline_value {
    if (type_oid) |oid| switch (oid) {
        Oid.int2 => return fixed(i16, value, scratch),
        Oid.int4 => return fixed(i32, value, scratch),
        Oid.int8 => return fixed(i64, value, scratch),
        Oid.oid => return fixed(u32, value, scratch),
        Oid.float4, Oid.float8 => return float(@as(f64, @floatFromInt(value)), type_oid, scratch),
        else => {},
    };
    if (format(type_oid) == 1) return error.Type;
    const text = std.fmt.bufPrint(scratch, "{d}", .{value}) catch unreachable;
    return .{ .data = scratch, .length = @intCast(text.len), .format = 0 };
}

fn float(value: anytype, type_oid: ?u32, scratch: *[scratch_bytes]u8) Error!c.trunkline_value {
    const wide: f64 = value;
    if (type_oid) |oid| switch (oid) {
        Oid.float8 => {
            std.mem.writeInt(u64, scratch[0..8], @bitCast(wide), .big);
            return .{ .data = scratch, .length = 8, .format = 1 };
        },
        Oid.float4 => {
            std.mem.writeInt(u32, scratch[0..4], @bitCast(@as(f32, @floatCast(wide))), .big);
            return .{ .data = scratch, .length = 4, .format = 1 };
        },
        else => if (format(type_oid) == 1) return error.Type,
    };
    const text = std.fmt.bufPrint(scratch, "{e}", .{wide}) catch return error.Type;
    return .{ .data = scratch, .length = @intCast(text.len), .format = 0 };
}

/// A column's value as `T`: a number, a boolean, text, an enum by its name, or an optional of these. Slices point into the
/// result.
pub inline fn decode(comptime T: type, value: c.trunkline_value) Error!T {
    if (@typeInfo(T) == .optional) {
        if (value.length < 0) return null;
        return try decode(@typeInfo(T).optional.child, value);
    }
    if (value.length < 0) return error.Type;
    const found: []const u8 = if (value.length == 0) "" else value.data[0..@intCast(value.length)];
    switch (@typeInfo(T)) {
        .int => return decodeInteger(T, found, value.format == 1),
        .float => return decodeFloat(T, found, value.format == 1),
        .bool => {
            if (found.len != 1) return error.Type;
            return switch (found[0]) {
                1, 't' => true,
                0, 'f' => false,
                else => error.Type,
            };
        },
        .@"enum" => return std.meta.stringToEnum(T, found) orelse error.Type,
        else => {
            comptime std.debug.assert(T == []const u8);
            return found;
        },
    }
}

inline fn decodeInteger(comptime T: type, found: []const u8, binary: bool) Error!T {
    if (!binary) return std.fmt.parseInt(T, found, 10) catch error.Type;
    const wide: i64 = switch (found.len) {
        4 => std.mem.readInt(i32, found[0..4], .big),
        8 => std.mem.readInt(i64, found[0..8], .big),
        2 => std.mem.readInt(i16, found[0..2], .big),
        else => return error.Type,
    };
    // An oid has no sign.
    if (T == u32 and found.len == 4) return std.mem.readInt(u32, found[0..4], .big);
    return std.math.cast(T, wide) orelse error.Type;
}

fn decodeFloat(comptime T: type, found: []const u8, binary: bool) Error!T {
    if (!binary) return std.fmt.parseFloat(T, found) catch error.Type;
    return switch (found.len) {
        4 => @floatCast(@as(f32, @bitCast(std.mem.readInt(u32, found[0..4], .big)))),
        8 => @floatCast(@as(f64, @bitCast(std.mem.readInt(u64, found[0..8], .big)))),
        else => error.Type,
    };
}
