//! The functions of `csrc/`: see `csrc/call.h` for the C side of these declarations.

use std::ffi::{c_char, c_int, c_void};

use crate::nodes::List;

/// What a parse's memory comes from: opaque, freed by [`trunkline_free`] on any thread.
#[repr(C)]
pub struct Arena {
    _opaque: [u8; 0],
    _not_send: core::marker::PhantomData<*mut c_void>,
}

/// An error of PostgreSQL's code. Strings are NUL-terminated, lie in the result's arena or are constants, or are NULL.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CallError {
    /// What happened.
    pub message: *const c_char,
    /// More of it.
    pub detail: *const c_char,
    /// What to do.
    pub hint: *const c_char,
    /// Where in a PL/pgSQL function.
    pub context: *const c_char,
    /// The function of PostgreSQL that raised it.
    pub function: *const c_char,
    /// Its source file.
    pub file: *const c_char,
    /// Its line there.
    pub line: c_int,
    /// The SQLSTATE as PostgreSQL's `MAKE_SQLSTATE` packs it.
    pub sqlstate: c_int,
    /// The position in the text in characters, from 1; 0 when unknown.
    pub position: c_int,
}

/// A token of PostgreSQL's scanner.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CallToken {
    /// Where it begins, in bytes.
    pub start: c_int,
    /// Where it ends.
    pub end: c_int,
    /// Its number in the grammar, or the character itself.
    pub token: c_int,
}

/// What a call made. All pointers lie in `arena`, which is NULL only if there was no memory for it.
#[repr(C)]
pub struct CallResult {
    /// The memory of all of it.
    pub arena: *mut Arena,
    /// Whether `error` says why there is no result.
    pub failed: bool,
    /// Why.
    pub error: CallError,
    /// Of [`trunkline_parse`]: a list of `RawStmt`, or another node by the mode; NULL for empty text.
    pub statements: *mut List,
    /// Of [`trunkline_scan`].
    pub tokens: *mut CallToken,
    /// How many tokens.
    pub token_count: usize,
    /// Of [`trunkline_plpgsql`]: NUL-terminated.
    pub json: *const c_char,
}

/// `standard_conforming_strings = off`: backslashes escape in plain strings.
pub const STRINGS_ESCAPE: c_int = 1;
/// `backslash_quote = off`: `\'` is an error in every string.
pub const BACKSLASH_QUOTE_OFF: c_int = 2;

unsafe extern "C" {
    /// Parses `length` bytes of UTF-8 without NUL in the RawParseMode `mode`, with memory up to `bytes_max`.
    /// `result` must be all zeros.
    pub fn trunkline_parse(
        result: *mut CallResult,
        text: *const c_char,
        length: usize,
        mode: c_int,
        options: c_int,
        bytes_max: usize,
    );
    /// The tokens of `length` bytes of UTF-8 without NUL, comments among them. `result` must be all zeros.
    pub fn trunkline_scan(
        result: *mut CallResult,
        text: *const c_char,
        length: usize,
        options: c_int,
        bytes_max: usize,
    );
    /// The PL/pgSQL functions of NUL-terminated text as JSON. `result` must be all zeros.
    pub fn trunkline_plpgsql(result: *mut CallResult, text: *const c_char, stack_kb: usize, bytes_max: usize);
    /// Frees an arena, or does nothing with NULL.
    pub fn trunkline_free(arena: *mut Arena);
    /// How many bytes an arena has from malloc.
    pub fn trunkline_arena_bytes(arena: *const Arena) -> usize;
    /// An arena without a call: for trees that Rust builds. NULL when there is no memory.
    pub fn trunkline_new_arena(first_bytes: usize) -> *mut Arena;
    /// Lets everything in `from` live in `into` from now on. `from` itself is gone.
    pub fn trunkline_adopt(into: *mut Arena, from: *mut Arena);
    /// Memory in an arena that lives as long as it, aligned to 8 bytes; NULL when there is none.
    pub fn trunkline_alloc(arena: *mut Arena, bytes: usize) -> *mut c_void;
}
