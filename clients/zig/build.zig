//! The package `trunkline`: one module, and the C library that has the protocol.
//!
//! `-Dlibrary=FOLDER` is where `libtrunkline_codec.a` is and `-Dinclude=FOLDER` where `trunkline.h` is; without them, where
//! `scripts/c-library` of this repository puts both.

const std = @import("std");

pub fn build(b: *std.Build) void {
    const target = b.standardTargetOptions(.{});
    const optimize = b.standardOptimizeOption(.{});
    const library = b.option([]const u8, "library", "folder of libtrunkline_codec.a") orelse "../../.trunkline/c/lib";
    const include = b.option([]const u8, "include", "folder of trunkline.h") orelse "../../crates/c/ffi/include";

    const header = b.addTranslateC(.{
        .root_source_file = .{ .cwd_relative = b.fmt("{s}/trunkline.h", .{include}) },
        .target = target,
        .optimize = optimize,
        .link_libc = true,
    });
    const module = b.addModule("trunkline", .{
        .root_source_file = b.path("src/trunkline.zig"),
        .target = target,
        .optimize = optimize,
        .link_libc = true,
        .imports = &.{.{ .name = "c", .module = header.createModule() }},
    });
    module.addObjectFile(.{ .cwd_relative = b.fmt("{s}/libtrunkline_codec.a", .{library}) });
    module.linkSystemLibrary("unwind", .{});

    const tests = b.addTest(.{
        .name = "tests",
        .root_module = b.createModule(.{
            .root_source_file = b.path("tests/all.zig"),
            .target = target,
            .optimize = optimize,
            .imports = &.{.{ .name = "trunkline", .module = module }},
        }),
        .test_runner = .{ .path = b.path("tests/runner.zig"), .mode = .simple },
    });
    b.step("test-program", "Build the tests").dependOn(&b.addInstallArtifact(tests, .{}).step);

    const examples = b.step("examples", "Build the examples");
    for ([_][]const u8{ "lookup", "batch" }) |name| {
        const example = b.addExecutable(.{
            .name = name,
            .root_module = b.createModule(.{
                .root_source_file = b.path(b.fmt("../../examples/zig/{s}.zig", .{name})),
                .target = target,
                .optimize = optimize,
                .imports = &.{.{ .name = "trunkline", .module = module }},
            }),
        });
        examples.dependOn(&b.addInstallArtifact(example, .{}).step);
    }
}
