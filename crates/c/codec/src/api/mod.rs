//! The functions of `trunkline.h` that do no I/O.

pub mod blocks;
pub mod encode;
pub mod login;
pub mod results;
pub mod sessions;

use std::ffi::c_char;

use crate::status;

/// The version of this interface. A program that was compiled for another one must not go on: it differs where a
/// function or a structure was changed, and stays where only functions were added.
pub const TRUNKLINE_ABI_VERSION: u32 = 1;

/// The version of the interface that the library has: compare it with TRUNKLINE_ABI_VERSION.
#[unsafe(no_mangle)]
pub extern "C" fn trunkline_abi_version() -> u32 {
    TRUNKLINE_ABI_VERSION
}

/// What a status means, for people. Valid for ever.
#[unsafe(no_mangle)]
pub extern "C" fn trunkline_status_text(status: i32) -> *const c_char {
    status::text(status).as_ptr()
}
