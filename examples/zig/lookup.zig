//! Rows into structs: lookup postgres://app:secret@localhost/app

const std = @import("std");
const trunkline = @import("trunkline");

const Harbor = struct { id: i32, name: []const u8 };

pub fn main(init: std.process.Init) !void {
    const arguments = try init.minimal.args.toSlice(init.arena.allocator());
    const url = if (arguments.len > 1) arguments[1] else "postgres://app@localhost/app";
    const config = try trunkline.Config.parse(init.arena.allocator(), url);
    const connection = try trunkline.Connection.open(init.gpa, init.io, config);
    defer connection.close();

    const statement = try connection.prepare("select n as id, 'harbor ' || n as name from generate_series(1, $1::int4) n");
    defer statement.deinit();
    var harbors = try statement.query(.{3});
    defer harbors.deinit();
    while (try harbors.next()) |row| {
        const harbor = try row.to(Harbor);
        std.debug.print("{d} {s}\n", .{ harbor.id, harbor.name });
    }

    // An error has the server's SQLSTATE, and the connection goes on.
    connection.run("select 1/0") catch std.debug.print("{s}\n", .{connection.failure.sqlstate()});
}
// prints: 1 harbor 1
// prints: 2 harbor 2
// prints: 3 harbor 3
// prints: 22012
