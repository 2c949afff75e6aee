//! What every call returns.

/// Done.
pub const TRUNKLINE_OK: i32 = 0;
/// Done; the value is NULL.
pub const TRUNKLINE_NULL: i32 = 1;
/// Nothing is there: no event now, no such field, the end.
pub const TRUNKLINE_NONE: i32 = 2;
/// The handle is null, was freed, is of another kind, or was never given out.
pub const TRUNKLINE_BAD_HANDLE: i32 = -1;
/// Another thread is in a call with the same handle.
pub const TRUNKLINE_BUSY: i32 = -2;
/// A pointer is null, a text is not UTF-8, or a number is out of its range.
pub const TRUNKLINE_BAD_ARGUMENT: i32 = -3;
/// A mistake in this library. The handle can only be freed.
pub const TRUNKLINE_PANIC: i32 = -4;
/// It does not fit a message: a zero byte in a text, too long, or another count of values. Nothing was written.
pub const TRUNKLINE_UNENCODABLE: i32 = -5;
/// The server broke the protocol. The session is over.
pub const TRUNKLINE_PROTOCOL: i32 = -6;
/// The session is over.
pub const TRUNKLINE_CLOSED: i32 = -7;
/// There is no such row, column or item.
pub const TRUNKLINE_NO_SUCH: i32 = -8;
/// The value is not of the type that was asked for, or does not fit it.
pub const TRUNKLINE_TYPE: i32 = -9;
/// The server says that it failed: its SQLSTATE and texts are in the error.
pub const TRUNKLINE_SERVER: i32 = -10;
/// A bound of this library is reached.
pub const TRUNKLINE_LIMIT: i32 = -11;
/// The network failed, or the server has closed the connection.
pub const TRUNKLINE_IO: i32 = -12;
/// The time is up.
pub const TRUNKLINE_TIMEOUT: i32 = -13;
/// The settings are not usable, or no host will do.
pub const TRUNKLINE_CONNECT: i32 = -14;
/// The SQL does not parse.
pub const TRUNKLINE_SYNTAX: i32 = -15;
/// The call does not fit what the session is doing.
pub const TRUNKLINE_MISUSE: i32 = -16;

/// A failed call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status(pub i32);

/// What a status means, ending with a zero byte as C's strings do.
#[must_use]
pub fn text(status: i32) -> &'static std::ffi::CStr {
    match status {
        TRUNKLINE_OK => c"done",
        TRUNKLINE_NULL => c"done; the value is NULL",
        TRUNKLINE_NONE => c"nothing is there",
        TRUNKLINE_BAD_HANDLE => c"the handle is null, freed, of another kind, or was never given out",
        TRUNKLINE_BUSY => c"another thread is in a call with the same handle",
        TRUNKLINE_BAD_ARGUMENT => c"a pointer is null, a text is not UTF-8, or a number is out of its range",
        TRUNKLINE_PANIC => c"a mistake in this library; the handle can only be freed",
        TRUNKLINE_UNENCODABLE => c"it does not fit a message",
        TRUNKLINE_PROTOCOL => c"the server broke the protocol",
        TRUNKLINE_CLOSED => c"the session is over",
        TRUNKLINE_NO_SUCH => c"there is no such row, column or item",
        TRUNKLINE_TYPE => c"the value is not of the type that was asked for",
        TRUNKLINE_SERVER => c"the server says that it failed",
        TRUNKLINE_LIMIT => c"a bound of this library is reached",
        TRUNKLINE_IO => c"the network failed, or the server has closed the connection",
        TRUNKLINE_TIMEOUT => c"the time is up",
        TRUNKLINE_CONNECT => c"the settings are not usable, or no host will do",
        TRUNKLINE_SYNTAX => c"the SQL does not parse",
        TRUNKLINE_MISUSE => c"the call does not fit what the session is doing",
        _ => c"no status of this library",
    }
}
