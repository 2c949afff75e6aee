//! Runs the tests, each with a leak-checked allocator of its own, and ends with the line that scripts/test counts.

const builtin = @import("builtin");
const std = @import("std");
const testing = std.testing;

pub fn main(init: std.process.Init.Minimal) void {
    var passed: usize = 0;
    var failed: usize = 0;
    for (builtin.test_functions) |test_function| {
        testing.allocator_instance = .init(std.heap.page_allocator, .{});
        testing.io_instance = .init(testing.allocator, .{ .argv0 = .init(init.args), .environ = init.environ });
        testing.environ = init.environ;
        const outcome = test_function.func();
        testing.io_instance.deinit();
        const leaks = testing.allocator_instance.deinit();
        if (outcome) |_| {
            if (leaks == 0) passed += 1 else {
                failed += 1;
                std.debug.print("{s}: leaks memory\n", .{test_function.name});
            }
        } else |wrong| {
            failed += 1;
            std.debug.print("{s}: {t}\n", .{ test_function.name, wrong });
            if (@errorReturnTrace()) |trace| std.debug.dumpErrorReturnTrace(trace);
        }
    }
    std.debug.print("{d} passed, {d} failed\n", .{ passed, failed });
    if (failed != 0) std.process.exit(1);
}
