//! Turns failed assertions of the C library into an [`super::Error`].
//!
//! In debug builds, pg_query's build script compiles the C library with PostgreSQL's assertions, and a failed one ends the process.
//! Release builds have no assertions; there the deparser writes wrong SQL for a tree that it cannot write, for example.
//!
//! The function here replaces the C library's function with the same name: the linker finds ours first and leaves out the member of
//! the archive that has the other.

use std::ffi::{c_char, c_int};

/// PostgreSQL's level of an error that ends a statement (elog.h).
const ERROR: c_int = 21;

unsafe extern "C-unwind" {
    fn errstart(elevel: c_int, domain: *const c_char) -> bool;
    fn errmsg_internal(format: *const c_char, ...) -> c_int;
    fn errfinish(filename: *const c_char, lineno: c_int, funcname: *const c_char);
}

/// C calls this if the condition of an `Assert` is false. It raises a PostgreSQL error.
///
/// # Safety
/// The texts are C strings.
// SAFETY: name and type are those that the C library declares. The library's own function is not linked.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn ExceptionalCondition(
    condition: *const c_char,
    file: *const c_char,
    line: c_int,
) -> ! {
    // SAFETY: these are called as `ereport(ERROR, ...)` calls them. The last one jumps (longjmp) to the PG_TRY that every
    // function of the library which has assertions runs in; this frame owns nothing.
    unsafe {
        errstart(ERROR, std::ptr::null());
        errmsg_internal(c"%s \"%s\"".as_ptr(), super::ASSERTION_FAILED.as_ptr(), condition);
        errfinish(file, line, c"Assert".as_ptr());
    }
    std::process::abort()
}
