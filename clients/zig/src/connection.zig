//! A connection: every call waits for its answer, one call at a time.

const std = @import("std");
const c = @import("c");
const Batch = @import("batch.zig").Batch;
const Config = @import("config.zig").Config;
const CopyIn = @import("copy.zig").CopyIn;
const CopyOut = @import("copy.zig").CopyOut;
const Failure = @import("failure.zig").Failure;
const Notification = @import("notification.zig").Notification;
const Result = @import("result.zig").Result;
const Socket = @import("socket.zig").Socket;
const Statement = @import("statement.zig").Statement;
const Transaction = @import("transaction.zig").Transaction;
const failures = @import("failure.zig");
const value = @import("value.zig");
const Error = failures.Error;
const check = failures.check;
const lend = failures.lend;
const lent = failures.lent;

/// Room for one receive.
const receive_bytes = 64 << 10;
/// Notifications that wait to be asked for; the oldest are dropped beyond.
const notifications_max = 65_536;

pub const Connection = struct {
    gpa: std.mem.Allocator,
    socket: Socket,
    session: u64,
    input: []u8,
    /// What the server said of the last call that was `error.Server`.
    failure: Failure = .{},
    notifications: std.ArrayList(Notification) = .empty,
    statements_made: u64 = 0,
    /// Transactions and savepoints that are open by `Transaction`.
    depth: u32 = 0,
    closed: bool = false,

    /// Connects and logs in.
    pub fn open(gpa: std.mem.Allocator, io: std.Io, config: Config) Error!*Connection {
        var failure: Failure = .{};
        return openSaying(gpa, io, config, &failure);
    }

    /// As `open`; why a login fails is put into `failure`.
    pub fn openSaying(gpa: std.mem.Allocator, io: std.Io, config: Config, failure: *Failure) Error!*Connection {
        const connection = try gpa.create(Connection);
        errdefer gpa.destroy(connection);
        const input = try gpa.alloc(u8, receive_bytes);
        errdefer gpa.free(input);
        var socket = try Socket.connect(io, config);
        errdefer socket.close();
        connection.* = .{ .gpa = gpa, .socket = socket, .session = 0, .input = input };
        connection.session = try connection.logIn(io, config, failure);
        return connection;
    }

    /// Says good-bye and frees everything. Results and statements must be freed before.
    pub fn close(connection: *Connection) void {
        if (!connection.closed) {
            _ = c.trunkline_encode_terminate(connection.session);
            _ = connection.send() catch {};
        }
        connection.socket.close();
        _ = c.trunkline_session_free(connection.session);
        for (connection.notifications.items) |waiting| waiting.deinit(connection.gpa);
        connection.notifications.deinit(connection.gpa);
        connection.gpa.free(connection.input);
        connection.gpa.destroy(connection);
    }

    fn logIn(connection: *Connection, io: std.Io, config: Config, failure: *Failure) Error!u64 {
        var entropy: [c.TRUNKLINE_ENTROPY_BYTES]u8 = undefined;
        io.randomSecure(&entropy) catch return error.Login;
        const parameters = [_]c.trunkline_parameter{
            .{ .name = lend("client_encoding"), .value = lend("UTF8") },
            .{ .name = lend("application_name"), .value = lend(config.application_name) },
        };
        const named: usize = if (config.application_name.len > 0) 2 else 1;
        var settings = std.mem.zeroes(c.trunkline_login_settings);
        settings.user = lend(config.user);
        settings.database = lend(config.database);
        settings.entropy = lend(&entropy);
        settings.parameters = &parameters;
        settings.parameters_count = named;
        settings.cleartext_without_tls = 1;
        if (config.password) |password| {
            settings.password = lend(password);
            settings.has_password = 1;
        }
        var login: u64 = 0;
        _ = try check(c.trunkline_login_new(&settings, &login));
        defer _ = c.trunkline_login_free(login);
        var next: i32 = c.TRUNKLINE_LOGIN_WAIT;
        while (next != c.TRUNKLINE_LOGIN_READY) {
            try connection.sendLogin(login);
            const count = try connection.socket.receive(connection.input);
            if (count == 0) return error.Closed;
            const told = c.trunkline_login_feed(login, lend(connection.input[0..count]), &next);
            if (told < 0) {
                var text: c.trunkline_bytes = undefined;
                if (c.trunkline_login_message(login, &text) == c.TRUNKLINE_OK) failure.say(lent(text));
                _ = c.trunkline_login_sqlstate(login, &failure.code);
            }
            _ = try check(told);
        }
        var session: u64 = 0;
        _ = try check(c.trunkline_session_of_login(login, config.message_bytes_max, &session));
        return session;
    }

    fn sendLogin(connection: *Connection, login: u64) Error!void {
        while (true) {
            var unsent: c.trunkline_bytes = undefined;
            _ = try check(c.trunkline_login_unsent(login, &unsent));
            if (unsent.length == 0) return;
            const count = try connection.socket.send(lent(unsent));
            if (count == 0) _ = try connection.socket.wait(true, null);
            _ = try check(c.trunkline_login_sent(login, count));
        }
    }

    /// Runs a query in one round trip; its parameters go as text, and so do its columns come.
    pub fn query(connection: *Connection, text: []const u8, parameters: anytype) Error!Result {
        const count = parameters.len;
        var scratch: [count][value.scratch_bytes]u8 = undefined;
        var values: [count]c.trunkline_value = undefined;
        inline for (0..count) |index| values[index] = try value.parameter(parameters[index], null, &scratch[index]);
        const session = try connection.begin();
        const encoded = encode: {
            break :encode encodeQuery(session, text, &values);
        };
        _ = try check(c.trunkline_encode_sync(session));
        const answer = connection.finish();
        _ = try encoded;
        return Result.init(connection.gpa, (try answer).result, session);
    }

    fn encodeQuery(session: u64, text: []const u8, values: []const c.trunkline_value) Error!i32 {
        const unnamed = lend("");
        _ = try check(c.trunkline_encode_parse(session, unnamed, lend(text), null, 0));
        _ = try check(c.trunkline_encode_bind(session, unnamed, unnamed, values.ptr, values.len, 0));
        _ = try check(c.trunkline_encode_describe(session, 'P', unnamed));
        return check(c.trunkline_encode_execute(session, unnamed, 0, 0));
    }

    /// Runs a command and says how many rows it changed.
    pub fn execute(connection: *Connection, text: []const u8, parameters: anytype) Error!u64 {
        var result = try connection.query(text, parameters);
        defer result.deinit();
        return result.affected();
    }

    /// Runs any number of commands, separated by semicolons, for their effect.
    pub fn run(connection: *Connection, text: []const u8) Error!void {
        const session = try connection.begin();
        _ = try check(c.trunkline_encode_query(session, lend(text)));
        connection.free((try connection.finish()).result);
    }

    /// Runs a simple query and hands each of its results to `context.result(*Result)`.
    pub fn simple(connection: *Connection, text: []const u8, context: anytype) Error!void {
        const session = try connection.begin();
        _ = try check(c.trunkline_encode_query(session, lend(text)));
        var failed = false;
        while (true) {
            const event = try connection.wait();
            switch (event.kind) {
                c.TRUNKLINE_EVENT_READY => return if (failed) error.Server,
                c.TRUNKLINE_EVENT_RESULT => {
                    var result = Result.init(connection.gpa, event.result, session);
                    defer result.deinit();
                    context.result(&result);
                },
                else => failed = try connection.otherwise(event) or failed,
            }
        }
    }

    /// Prepares a statement; free it with `deinit`.
    pub fn prepare(connection: *Connection, text: []const u8) Error!*Statement {
        return Statement.prepare(connection, text);
    }

    /// Begins a transaction; within one, a savepoint.
    pub fn transaction(connection: *Connection) Error!Transaction {
        return Transaction.begin(connection);
    }

    /// Begins a `COPY ... FROM STDIN`.
    pub fn copyIn(connection: *Connection, text: []const u8) Error!CopyIn {
        return CopyIn.begin(connection, text);
    }

    /// Begins a `COPY ... TO STDOUT`.
    pub fn copyOut(connection: *Connection, text: []const u8) Error!CopyOut {
        return CopyOut.begin(connection, text);
    }

    /// Listens to a channel.
    pub fn listen(connection: *Connection, channel: []const u8) Error!void {
        var text: std.ArrayList(u8) = .empty;
        defer text.deinit(connection.gpa);
        try text.appendSlice(connection.gpa, "listen \"");
        for (channel) |byte| {
            if (byte == '"') try text.append(connection.gpa, '"');
            try text.append(connection.gpa, byte);
        }
        try text.append(connection.gpa, '"');
        return connection.run(text.items);
    }

    /// The next notification, to be freed with `deinit(gpa)`; waits for one, at most for so many milliseconds.
    pub fn notification(connection: *Connection, milliseconds: ?u31) Error!?Notification {
        const session = try connection.begin();
        while (connection.notifications.items.len == 0) {
            var event: c.trunkline_event = undefined;
            const told = try check(c.trunkline_session_next(session, &event));
            if (told == c.TRUNKLINE_OK) {
                _ = try connection.otherwise(event);
                continue;
            }
            const ready = try connection.socket.wait(false, milliseconds);
            if (!ready.readable) return null;
            try connection.receive();
        }
        return connection.notifications.orderedRemove(0);
    }

    /// 'I' outside of a transaction, 'T' in one, 'E' in one that has failed.
    pub fn status(connection: *const Connection) u8 {
        var found: u8 = 'I';
        _ = c.trunkline_session_status(connection.session, &found);
        return found;
    }

    /// The value that the server last reported for a parameter such as `server_version`; valid until the next call.
    pub fn parameter(connection: *const Connection, name: []const u8) ?[]const u8 {
        var found: c.trunkline_bytes = undefined;
        const told = c.trunkline_session_parameter(connection.session, lend(name), &found);
        return if (told == c.TRUNKLINE_OK) lent(found) else null;
    }

    /// The session, for a turn of its own.
    pub fn begin(connection: *Connection) Error!u64 {
        if (connection.closed) return error.Closed;
        // What came unasked after the last answer.
        var event: c.trunkline_event = undefined;
        while (try check(c.trunkline_session_next(connection.session, &event)) == c.TRUNKLINE_OK) {
            _ = try connection.otherwise(event);
        }
        var idle: u8 = 0;
        _ = try check(c.trunkline_session_is_idle(connection.session, &idle));
        return if (idle == 1) connection.session else error.Misuse;
    }

    pub const Answer = struct { result: u64 = 0, described: u64 = 0 };

    /// Reads a turn to its end: its last result, which is the caller's. Where the server says an error, the turn is read to its end
    /// all the same.
    pub fn finish(connection: *Connection) Error!Answer {
        var answer: Answer = .{};
        errdefer connection.free(answer.result);
        errdefer connection.free(answer.described);
        var failed = false;
        while (true) {
            const event = try connection.wait();
            switch (event.kind) {
                c.TRUNKLINE_EVENT_READY => {
                    if (failed) return error.Server;
                    return answer;
                },
                c.TRUNKLINE_EVENT_RESULT => {
                    connection.free(answer.result);
                    answer.result = event.result;
                },
                c.TRUNKLINE_EVENT_DESCRIBED => {
                    connection.free(answer.described);
                    answer.described = event.result;
                },
                else => failed = try connection.otherwise(event) or failed,
            }
        }
    }

    /// What may come at any time, and errors. Whether it was one.
    pub fn otherwise(connection: *Connection, event: c.trunkline_event) Error!bool {
        defer connection.free(event.result);
        switch (event.kind) {
            c.TRUNKLINE_EVENT_ERROR => {
                connection.failure.take(event.result, event.number);
                return true;
            },
            c.TRUNKLINE_EVENT_FATAL => {
                connection.failure.take(event.result, 0);
                connection.closed = true;
                return error.Closed;
            },
            c.TRUNKLINE_EVENT_COPY_IN => {
                _ = try check(c.trunkline_encode_copy_refuse(connection.session, lend("no data is copied in here")));
            },
            c.TRUNKLINE_EVENT_NOTIFICATION => try connection.keep(event.result),
            else => {},
        }
        return false;
    }

    fn keep(connection: *Connection, result: u64) Error!void {
        const made = try Notification.of(connection.gpa, result);
        if (connection.notifications.items.len >= notifications_max) {
            connection.notifications.orderedRemove(0).deinit(connection.gpa);
        }
        errdefer made.deinit(connection.gpa);
        try connection.notifications.append(connection.gpa, made);
    }

    pub fn free(connection: *Connection, result: u64) void {
        if (result != 0) _ = c.trunkline_result_recycle(result, connection.session);
    }

    /// Waits for the next event.
    pub fn wait(connection: *Connection) Error!c.trunkline_event {
        var event: c.trunkline_event = undefined;
        while (true) {
            const told = check(c.trunkline_session_next(connection.session, &event)) catch |wrong| return connection.lost(wrong);
            if (told == c.TRUNKLINE_OK) return event;
            try connection.exchange();
        }
    }

    /// Sends what can be sent, and waits for something to come or, where not all could be sent, to go on.
    pub fn exchange(connection: *Connection) Error!void {
        const left = connection.send() catch |wrong| switch (wrong) {
            // What the server said before it went is read first.
            error.Closed => false,
            else => return wrong,
        };
        if (left and !(try connection.socket.wait(true, null)).readable) return;
        try connection.receive();
    }

    /// Sends what the system takes now. Whether something is left.
    pub fn send(connection: *Connection) Error!bool {
        while (true) {
            var unsent: c.trunkline_bytes = undefined;
            _ = try check(c.trunkline_session_unsent(connection.session, &unsent));
            if (unsent.length == 0) return false;
            const count = try connection.socket.send(lent(unsent));
            if (count == 0) return true;
            _ = try check(c.trunkline_session_sent(connection.session, count));
        }
    }

    fn receive(connection: *Connection) Error!void {
        const count = connection.socket.receive(connection.input) catch |wrong| return connection.lost(wrong);
        if (count == 0) return connection.lost(error.Closed);
        const fed = c.trunkline_session_feed(connection.session, lend(connection.input[0..count]));
        _ = check(fed) catch |wrong| return connection.lost(wrong);
    }

    fn lost(connection: *Connection, wrong: Error) Error {
        connection.closed = true;
        var text: c.trunkline_bytes = undefined;
        if (c.trunkline_session_message(connection.session, &text) == c.TRUNKLINE_OK) connection.failure.say(lent(text));
        return wrong;
    }
};
