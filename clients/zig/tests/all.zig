//! All tests. `TRUNKLINE_TEST_SERVER` is `PORT SOCKET_FOLDER MODE`, where mode is `direct` or a pooler's.

test {
    _ = @import("queries.zig");
    _ = @import("batches.zig");
    _ = @import("copies.zig");
    _ = @import("endings.zig");
    _ = @import("vectors.zig");
}
