//! What was notified of a channel that is listened to.

const std = @import("std");
const c = @import("c");
const failures = @import("failure.zig");

pub const Notification = struct {
    /// The server process that notified.
    process_id: i32,
    channel: []const u8,
    payload: []const u8,

    pub fn of(gpa: std.mem.Allocator, result: u64) failures.Error!Notification {
        var made: Notification = undefined;
        var channel: c.trunkline_bytes = undefined;
        var payload: c.trunkline_bytes = undefined;
        _ = try failures.check(c.trunkline_result_notification(result, &made.process_id, &channel, &payload));
        made.channel = try gpa.dupe(u8, failures.lent(channel));
        errdefer gpa.free(made.channel);
        made.payload = try gpa.dupe(u8, failures.lent(payload));
        return made;
    }

    pub fn deinit(notification: Notification, gpa: std.mem.Allocator) void {
        gpa.free(notification.channel);
        gpa.free(notification.payload);
    }
};
