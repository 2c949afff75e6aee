//! pg_query's build script compiles the C library with PostgreSQL's assertions in every debug build, and one that fails
//! ends the process. Release builds have none of them: there the deparser, say, writes something or other for a tree it
//! has no words for. Here the oracle has an [`super::Error`] for such a statement.
//!
//! This takes the place of the C library's own function of that name: the linker finds ours first, and leaves its member
//! of the archive out.

use std::ffi::{c_char, c_int};

/// PostgreSQL's level of an error that ends a statement (elog.h).
const ERROR: c_int = 21;

unsafe extern "C-unwind" {
    fn errstart(elevel: c_int, domain: *const c_char) -> bool;
    fn errmsg_internal(format: *const c_char, ...) -> c_int;
    fn errfinish(filename: *const c_char, lineno: c_int, funcname: *const c_char);
}

/// What C calls where `Assert(condition)` does not hold: an error, as PostgreSQL throws them.
///
/// # Safety
/// The texts are C strings.
// SAFETY: the name is the C library's, with the type that it declares; its own is not linked.
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
