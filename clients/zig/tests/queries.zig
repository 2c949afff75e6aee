const std = @import("std");
const trunkline = @import("trunkline");
const server = @import("server.zig");
const expect = std.testing.expect;
const expectEqual = std.testing.expectEqual;
const expectError = std.testing.expectError;
const expectEqualStrings = std.testing.expectEqualStrings;

test "a query's values by index and by name, as text" {
    const connection = try server.connect();
    defer connection.close();
    var result = try connection.query(
        "select $1::int4 + 1 as answer, $2::text as word, $3::float8 as nothing, $4::bool as yes, 1.25::float4 as quarter",
        .{ 41, "é", @as(?f64, null), true },
    );
    defer result.deinit();
    const row = try result.one();
    try expectEqual(42, try row.get(i32, 0));
    try expectEqualStrings("é", try row.named([]const u8, "word"));
    try expectEqual(null, try row.get(?f64, 2));
    try expectError(error.Type, row.get(f64, 2));
    try expect(try row.named(bool, "yes"));
    try expectEqual(1.25, try row.get(f32, 4));
    try expectError(error.NoSuch, row.named(i32, "nobody"));
    try expectError(error.NoSuch, row.get(i32, 5));
    try expectError(error.Type, row.get(i32, 1));
    try expectEqualStrings("SELECT 1", try result.tag(0));
    try expect(connection.parameter("server_version").?.len >= 2);
}

const Harbor = struct { id: i64, name: []const u8, depth: ?f64, open: bool };

test "rows into structs by the names of columns, from a prepared statement" {
    const connection = try server.connect();
    defer connection.close();
    const statement = try connection.prepare(
        \\select n % 2 = 0 as open, n::int8 as id, 'harbor ' || n as name, case when n > 2 then n / 2.0::float8 end as depth
        \\from generate_series(1, $1::int4) n
    );
    defer statement.deinit();
    var result = try statement.query(.{1000});
    defer result.deinit();
    try expectEqual(1000, result.len());
    const harbors = try result.all(Harbor);
    defer server.gpa.free(harbors);
    try expectEqual(1000, harbors.len);
    try expectEqual(null, harbors[1].depth);
    try expectEqual(500.0, harbors[999].depth.?);
    try expectEqualStrings("harbor 1000", harbors[999].name);
    try expect(harbors[999].open and !harbors[998].open and harbors[998].id == 999);
    // And again, one by one.
    result.reset();
    var sum: i64 = 0;
    while (try result.next()) |row| sum += (try row.to(Harbor)).id;
    try expectEqual(500_500, sum);
}

test "each type of parameter and its extremes, there and back" {
    const connection = try server.connect();
    defer connection.close();
    const statement = try connection.prepare(
        "select $1::int2 a, $2::int4 b, $3::int8 c, $4::float4 d, $5::float8 e, $6::bool f, $7::bytea g, $8::text h",
    );
    defer statement.deinit();
    inline for (.{
        .{ @as(i16, -32768), @as(i32, -2147483648), @as(i64, std.math.minInt(i64)), @as(f32, -1.5), -std.math.inf(f64), false, "\x00\xff", "" },
        .{ @as(i16, 32767), @as(i32, 2147483647), @as(i64, std.math.maxInt(i64)), @as(f32, 0), std.math.inf(f64), true, "", "é\n" },
    }) |given| {
        var result = try statement.query(given);
        defer result.deinit();
        const row = try result.one();
        inline for (given, 0..) |expected, index| {
            const T = if (index >= 6) []const u8 else @TypeOf(expected);
            try std.testing.expectEqualDeep(@as(T, expected), try row.get(T, index));
        }
        try expectError(error.Type, row.get(i8, 2));
    }
    // What does not fit is an error before anything is sent.
    try expectError(error.Type, statement.query(.{ 32768, 0, 0, 0, 0, true, "", "" }));
    try expectError(error.Unencodable, statement.query(.{1}));
    // Types whose binary form this client does not know go as text, both ways.
    const numeric = try connection.prepare("select $1::numeric + 0.1 as sum, $2::date as day");
    defer numeric.deinit();
    var result = try numeric.query(.{ 1, "2026-02-28" });
    defer result.deinit();
    const row = try result.one();
    try expectEqualStrings("1.1", try row.get([]const u8, 0));
    try expectEqualStrings("2026-02-28", try row.named([]const u8, "day"));
}

test "errors say what the server said, and leave the connection usable" {
    const connection = try server.connect();
    defer connection.close();
    try expectError(error.Server, connection.query("select 1/$1::int4", .{0}));
    try expectEqualStrings("22012", connection.failure.sqlstate());
    try expectEqualStrings("division by zero", connection.failure.message());
    try expectError(error.Server, connection.run("selekt"));
    try expectEqualStrings("42601", connection.failure.sqlstate());
    try expectError(error.Server, connection.prepare("select * from nowhere"));
    try expectError(error.Unencodable, connection.run("select 'a\x00b'"));
    try expectError(error.Unencodable, connection.query("select 'a\x00b'", .{}));
    var result = try connection.query("select 1", .{});
    defer result.deinit();
    try expectEqual(1, try (try result.one()).get(u8, 0));
}

const Counter = struct {
    results: usize = 0,
    rows: u64 = 0,

    pub fn result(counter: *Counter, found: *trunkline.Result) void {
        counter.results += 1;
        counter.rows += found.len();
    }
};

test "a simple query has a result for each command" {
    const connection = try server.connect();
    defer connection.close();
    var counter: Counter = .{};
    try connection.simple("select 1; select generate_series(1, 5); set application_name = 'a'", &counter);
    try expectEqual(3, counter.results);
    try expectEqual(6, counter.rows);
    try expectError(error.Server, connection.simple("select 1; select 1/0; select 2", &counter));
    try expectEqual(4, counter.results);
}

test "transactions, with savepoints in them" {
    const connection = try server.connect();
    defer connection.close();
    try connection.run("drop table if exists zig_kept; create table zig_kept (n int4)");
    {
        var outer = try connection.transaction();
        defer outer.deinit();
        _ = try connection.execute("insert into zig_kept values ($1)", .{1});
        {
            var inner = try connection.transaction();
            defer inner.deinit();
            try expectError(error.Server, connection.run("select 1/0"));
            try expectEqual('E', connection.status());
        }
        try expectEqual('T', connection.status());
        {
            var inner = try connection.transaction();
            defer inner.deinit();
            try expectEqual(2, try connection.execute("insert into zig_kept values (2), (3)", .{}));
            try inner.commit();
        }
        try outer.commit();
        try expectError(error.Misuse, outer.commit());
    }
    {
        var undone = try connection.transaction();
        defer undone.deinit();
        try connection.run("delete from zig_kept");
    }
    try expectEqual('I', connection.status());
    var result = try connection.query("select count(*) from zig_kept", .{});
    defer result.deinit();
    try expectEqual(3, try (try result.one()).get(i64, 0));
    try connection.run("drop table zig_kept");
}
