//! One statement with many sets of parameters, pipelined, in a transaction: batch postgres://app:secret@localhost/app

const std = @import("std");
const trunkline = @import("trunkline");

pub fn main(init: std.process.Init) !void {
    const arguments = try init.minimal.args.toSlice(init.arena.allocator());
    const url = if (arguments.len > 1) arguments[1] else "postgres://app@localhost/app";
    const config = try trunkline.Config.parse(init.arena.allocator(), url);
    const connection = try trunkline.Connection.open(init.gpa, init.io, config);
    defer connection.close();

    var transaction = try connection.transaction();
    defer transaction.deinit();
    const statement = try connection.prepare("select $1::int4 * $1");
    defer statement.deinit();
    var batch = try statement.batch();
    for (0..10_000) |n| try batch.push(.{n});
    var squares = try batch.run();
    defer squares.deinit();
    try transaction.commit();

    var sum: i64 = 0;
    while (try squares.next()) |row| sum += try row.get(i32, 0);
    std.debug.print("{d} items, sum {d}\n", .{ squares.items(), sum });
}
// prints: 10000 items, sum 333283335000
