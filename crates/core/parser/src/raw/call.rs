//! Calls of PostgreSQL's C: text in, a result in an arena out.

use std::ffi::{CStr, c_char, c_int};
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use pg_query_sys as sys;

use crate::error::{ParseError, SqlState};
use crate::options::{Mode, ParseOptions, TEXT_BYTES_MAX};

/// An arena of C's, owned: everything that a call made lies in it.
pub(super) struct Arena(NonNull<sys::Arena>);

// SAFETY: an arena is plain memory from malloc, with no tie to the thread that made it (csrc/arena.h).
unsafe impl Send for Arena {}
// SAFETY: through a shared reference it is only read (`bytes`); `alloc` takes an exclusive one.
unsafe impl Sync for Arena {}

impl Arena {
    /// How many bytes it has from malloc.
    pub(super) fn bytes(&self) -> usize {
        // SAFETY: the arena lives as long as `self`.
        unsafe { sys::trunkline_arena_bytes(self.0.as_ptr()) }
    }

    /// A new one, for a tree that C does not build.
    pub(super) fn new(first_bytes: usize) -> Option<Self> {
        // SAFETY: it takes a number only.
        NonNull::new(unsafe { sys::trunkline_new_arena(first_bytes) }).map(Self)
    }

    /// Its address, for code that changes what lies in it.
    pub(super) fn pointer(&mut self) -> NonNull<sys::Arena> {
        self.0
    }

    /// Its address, to be freed or adopted by the caller.
    pub(super) fn into_pointer(self) -> NonNull<sys::Arena> {
        std::mem::ManuallyDrop::new(self).0
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: `self` owned it, and what pointed into it borrowed `self` or went with it.
        unsafe { sys::trunkline_free(self.0.as_ptr()) }
    }
}

/// What a call that did not fail made. Its pointers lie in the arena.
pub(super) struct Made {
    pub(super) arena: Arena,
    pub(super) result: sys::CallResult,
}

/// Text that C may be given: not too long, without NUL.
pub(super) fn check(text: &str) -> Result<(), ParseError> {
    if text.len() > TEXT_BYTES_MAX {
        let message = format!("the text is {} bytes long, and the limit is {TEXT_BYTES_MAX}", text.len());
        return Err(ParseError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message, None));
    }
    if let Some(at) = memchr::memchr(0, text.as_bytes()) {
        let message = "invalid byte sequence for encoding \"UTF8\": 0x00";
        return Err(ParseError::new(SqlState::CHARACTER_NOT_IN_REPERTOIRE, message, Some((text, at))));
    }
    Ok(())
}

pub(super) fn parse(text: &str, options: ParseOptions) -> Result<Made, ParseError> {
    check(text)?;
    let mode = match options.mode {
        Mode::Statements => 0,
        Mode::TypeName => 1,
        Mode::PlpgsqlExpression => 2,
        Mode::PlpgsqlAssign1 => 3,
        Mode::PlpgsqlAssign2 => 4,
        Mode::PlpgsqlAssign3 => 5,
    };
    call(text, |result| {
        // SAFETY: `result` is zeroed and writable, the text is that long and without NUL. C's longjmp ends in C.
        unsafe {
            let start = text.as_ptr().cast::<c_char>();
            sys::trunkline_parse(result, start, text.len(), mode, bits(options), options.tree_bytes_max);
        }
    })
}

pub(super) fn scan(text: &str, options: ParseOptions) -> Result<Made, ParseError> {
    check(text)?;
    call(text, |result| {
        // SAFETY: as in `parse`.
        unsafe {
            let start = text.as_ptr().cast::<c_char>();
            sys::trunkline_scan(result, start, text.len(), bits(options), options.tree_bytes_max);
        }
    })
}

/// PL/pgSQL's JSON of `text`, of which `terminated` is a copy. The stack has `stack_kb` left.
pub(super) fn plpgsql(
    text: &str,
    terminated: &CStr,
    stack_kb: usize,
    bytes_max: usize,
) -> Result<Made, ParseError> {
    call(text, |result| {
        // SAFETY: `result` is zeroed and writable, the text ends in NUL. C's longjmp ends in C.
        unsafe { sys::trunkline_plpgsql(result, terminated.as_ptr(), stack_kb, bytes_max) }
    })
}

fn bits(options: ParseOptions) -> c_int {
    let mut bits = 0;
    if !options.standard_conforming_strings {
        bits |= sys::STRINGS_ESCAPE;
    }
    if !options.backslash_quote {
        bits |= sys::BACKSLASH_QUOTE_OFF;
    }
    bits
}

/// Runs one of C's functions, and makes an error of what it says went wrong.
fn call(text: &str, run: impl FnOnce(*mut sys::CallResult)) -> Result<Made, ParseError> {
    let mut result = MaybeUninit::<sys::CallResult>::zeroed();
    run(result.as_mut_ptr());
    // SAFETY: all zeros is a valid value of every field (null pointers, false, 0), and C wrote only valid ones.
    let result = unsafe { result.assume_init() };
    let arena = NonNull::new(result.arena).map(Arena);
    match arena {
        Some(arena) if !result.failed => Ok(Made { arena, result }),
        _ => Err(error(&result.error).locate(text)),
        // Dropping the arena here frees the error's strings, which `error` has copied.
    }
}

fn error(error: &sys::CallError) -> ParseError {
    ParseError {
        message: string(error.message).unwrap_or_default(),
        detail: string(error.detail),
        hint: string(error.hint),
        context: string(error.context),
        sqlstate: SqlState::unpack(error.sqlstate),
        cursor: u32::try_from(error.position).unwrap_or_default(),
        position: None,
    }
}

pub(super) fn string(text: *const c_char) -> Option<Box<str>> {
    if text.is_null() {
        return None;
    }
    // SAFETY: C's strings in a result are NUL-terminated and lie in its arena, which is still there.
    let text = unsafe { CStr::from_ptr(text) };
    Some(text.to_string_lossy().into())
}
