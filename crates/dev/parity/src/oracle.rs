//! The results of pg_query 18.1, which ours must equal.
//!
//! This calls libpg_query's C functions, which the crate `pg_query` links. The crate's Rust functions leave out the position of an
//! error, and refuse texts that are nested deeper than their protobuf decoder allows. Every result is owned by Rust.
//!
//! While the C library parses, it redirects the process's standard error to a pipe, without a lock. If threads do that at the same
//! time, standard error may stay redirected. [`restore_standard_error`] restores it.

#![allow(unsafe_code)]

mod assertion;
mod c;

use std::ffi::{CStr, CString, c_char, c_int};
use std::fmt;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::LazyLock;

use pg_query::protobuf;
use prost::Message;

// The crate is linked for its C library. Only some of its Rust items are used here.
use pg_query as _;

/// The error of PostgreSQL's parser for a text that it refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// The message, without position.
    pub message: String,
    /// The position in characters, counted from 1; 0 if the error has none.
    pub cursorpos: i32,
    /// PostgreSQL's context of the error, mostly in PL/pgSQL.
    pub context: Option<String>,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at {})", self.message, self.cursorpos)
    }
}

impl std::error::Error for Error {}

impl Error {
    /// Whether it is a failed assertion of the C code. Builds without assertions (pg_query's release builds) return some result.
    #[must_use]
    pub fn is_assertion(&self) -> bool {
        ASSERTION_FAILED.to_str().is_ok_and(|words| self.message.starts_with(words))
    }
}

/// The beginning of a failed assertion's message.
const ASSERTION_FAILED: &CStr = c"C assertion failed:";

/// A result of pg_query.
pub type Result<T> = std::result::Result<T, Error>;

/// `backslash_quote = off`, for the `parser_options` of [`json_opts`] and others.
pub const DISABLE_BACKSLASH_QUOTE: i32 = 16;
/// `standard_conforming_strings = off`, for `parser_options`.
pub const DISABLE_STANDARD_CONFORMING_STRINGS: i32 = 32;
/// `escape_string_warning = off`, for `parser_options`.
pub const DISABLE_ESCAPE_STRING_WARNING: i32 = 64;

/// A token of [`scan`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Where it begins, in bytes.
    pub start: usize,
    /// Where it ends, in bytes.
    pub end: usize,
    /// Its number in the grammar (`PG_QUERY_TOKEN_...`).
    pub token: i32,
    /// Its name, as in pg_query's protobuf (`IDENT`, `SELECT`, `ASCII_59`).
    pub name: &'static str,
    /// The kind of keyword: 0 none, 1 unreserved, 2 column name, 3 type or function name, 4 reserved.
    pub keyword_kind: i32,
    /// The name of the kind (`NO_KEYWORD`).
    pub keyword_kind_name: &'static str,
}

/// The options of [`deparse_opts`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeparseOptions {
    /// The comments that [`comments`] found, which are put into the SQL again.
    pub comments: Vec<Comment>,
    /// Whether the SQL is laid out on several lines.
    pub pretty_print: bool,
    /// Spaces of a level; 0 for the default, 4.
    pub indent_size: i32,
    /// The line length at which lists break; 0 for the default, 80.
    pub max_line_length: i32,
    /// Whether the SQL ends with a newline.
    pub trailing_newline: bool,
    /// Whether commas stand before items and not after them.
    pub commas_start_of_line: bool,
}

/// A comment of a text, with its place for deparsed SQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// It is put before the first node whose location is this or more, in bytes.
    pub match_location: i32,
    /// The number of newlines before it.
    pub newlines_before: i32,
    /// The number of newlines after it.
    pub newlines_after: i32,
    /// Its whole text, with `--` or `/*`.
    pub text: String,
}

/// The tree as JSON, as `pg_query_parse` writes it.
///
/// # Errors
/// The parser's.
pub fn json(sql: &str) -> Result<String> {
    json_opts(sql, 0)
}

/// As [`json`], with the parser's mode (0 to 5, in the lower four bits) and its settings (`DISABLE_...`).
///
/// # Errors
/// The parser's.
pub fn json_opts(sql: &str, parser_options: i32) -> Result<String> {
    let input = input(sql);
    // SAFETY: `input` is a C string that lives through the call; the result is its own memory, read before it is freed.
    unsafe {
        let result = c::pg_query_parse_opts(input.as_ptr(), parser_options);
        let answer = checked(result.error).map(|()| text(result.parse_tree));
        c::pg_query_free_parse_result(result);
        answer
    }
}

/// The fingerprint as a number and as 16 hexadecimal digits.
///
/// # Errors
/// The parser's.
pub fn fingerprint(sql: &str) -> Result<(u64, String)> {
    fingerprint_opts(sql, 0, 0)
}

/// As [`fingerprint`], with the parser's options and the fingerprint's (`PG_QUERY_FINGERPRINT_...` of `pg_query.h`).
///
/// # Errors
/// The parser's.
pub fn fingerprint_opts(sql: &str, parser_options: i32, fingerprint_options: i32) -> Result<(u64, String)> {
    let input = input(sql);
    // SAFETY: as in `json_opts`.
    unsafe {
        let result = c::pg_query_fingerprint_opts(input.as_ptr(), parser_options, fingerprint_options);
        let answer = checked(result.error).map(|()| (result.fingerprint, text(result.fingerprint_str)));
        c::pg_query_free_fingerprint_result(result);
        answer
    }
}

/// The SQL that pg_query writes from the tree of `sql`. The tree is encoded as protobuf, as for users of pg_query, so a tree that is
/// nested too deep for protobuf is an error.
///
/// # Errors
/// The parser's, or the deparser's (with position 0).
pub fn deparse(sql: &str) -> Result<String> {
    deparse_opts(sql, &DeparseOptions::default())
}

/// As [`deparse`], with options.
///
/// # Errors
/// As [`deparse`].
pub fn deparse_opts(sql: &str, options: &DeparseOptions) -> Result<String> {
    let input = input(sql);
    let texts: Vec<CString> = options.comments.iter().map(|comment| self::input(&comment.text)).collect();
    let mut comments: Vec<c::DeparseComment> = options
        .comments
        .iter()
        .zip(&texts)
        .map(|(comment, text)| c::DeparseComment {
            match_location: comment.match_location,
            newlines_before_comment: comment.newlines_before,
            newlines_after_comment: comment.newlines_after,
            text: text.as_ptr().cast_mut(),
        })
        .collect();
    let mut pointers: Vec<*mut c::DeparseComment> = comments.iter_mut().map(std::ptr::from_mut).collect();
    let options = c::DeparseOptions {
        comments: pointers.as_mut_ptr(),
        comment_count: pointers.len(),
        pretty_print: options.pretty_print,
        indent_size: options.indent_size,
        max_line_length: options.max_line_length,
        trailing_newline: options.trailing_newline,
        commas_start_of_line: options.commas_start_of_line,
    };
    // SAFETY: as in `json_opts`; the comments and their texts live through the call, which only reads them; the protobuf
    // is lent to the deparser before it is freed.
    unsafe {
        let parsed = c::pg_query_parse_protobuf(input.as_ptr());
        let answer = checked(parsed.error).and_then(|()| {
            let deparsed = c::pg_query_deparse_protobuf_opts(parsed.parse_tree, options);
            let answer = checked(deparsed.error).map(|()| text(deparsed.text));
            c::pg_query_free_deparse_result(deparsed);
            answer
        });
        c::pg_query_free_protobuf_parse_result(parsed);
        answer
    }
}

/// The comments of a text.
///
/// # Errors
/// The scanner's.
pub fn comments(sql: &str) -> Result<Vec<Comment>> {
    let input = input(sql);
    // SAFETY: as in `json_opts`; `comments` has `comment_count` pointers, each to a comment.
    unsafe {
        let result = c::pg_query_deparse_comments_for_query(input.as_ptr());
        let answer = checked(result.error).map(|()| {
            slice(result.comments, result.comment_count)
                .iter()
                .map(|&comment| Comment {
                    match_location: (*comment).match_location,
                    newlines_before: (*comment).newlines_before_comment,
                    newlines_after: (*comment).newlines_after_comment,
                    text: text((*comment).text),
                })
                .collect()
        });
        c::pg_query_free_deparse_comments_result(result);
        answer
    }
}

/// The text with parameters in place of its constants.
///
/// # Errors
/// The parser's.
pub fn normalize(sql: &str) -> Result<String> {
    let input = input(sql);
    // SAFETY: as in `json_opts`; freed by the function that belongs to it.
    unsafe { take_text(c::pg_query_normalize(input.as_ptr()), c::pg_query_free_normalize_result) }
}

/// As [`normalize`], but only for utility statements.
///
/// # Errors
/// The parser's.
pub fn normalize_utility(sql: &str) -> Result<String> {
    let input = input(sql);
    // SAFETY: as in `normalize`.
    unsafe { take_text(c::pg_query_normalize_utility(input.as_ptr()), c::pg_query_free_normalize_result) }
}

/// The PL/pgSQL functions that `sql` makes, as JSON.
///
/// # Errors
/// The parser's, or PL/pgSQL's.
pub fn plpgsql(sql: &str) -> Result<String> {
    let input = input(sql);
    // SAFETY: as in `normalize`.
    unsafe { take_text(c::pg_query_parse_plpgsql(input.as_ptr()), c::pg_query_free_plpgsql_parse_result) }
}

/// The tokens, including comments.
///
/// # Errors
/// The scanner's.
pub fn scan(sql: &str) -> Result<Vec<Token>> {
    let input = input(sql);
    // SAFETY: as in `json_opts`; `tokens` has `n_tokens` items; the names are C's constants.
    unsafe {
        let result = c::pg_query_scan_tokens(input.as_ptr());
        let answer = checked(result.error).map(|()| {
            slice(result.tokens, size(result.n_tokens))
                .iter()
                .map(|token| Token {
                    start: size(token.start),
                    end: size(token.end),
                    token: token.token,
                    name: constant(c::pg_query_token_name(token.token)),
                    keyword_kind: token.keyword_kind,
                    keyword_kind_name: constant(c::pg_query_keyword_kind_name(token.keyword_kind)),
                })
                .collect()
        });
        c::pg_query_free_scan_tokens_result(result);
        answer
    }
}

/// The place and length of each statement in bytes, as the parser finds them.
///
/// # Errors
/// The parser's.
pub fn split_with_parser(sql: &str) -> Result<Vec<(usize, usize)>> {
    let input = input(sql);
    // SAFETY: as in `json_opts`.
    unsafe { take_split(c::pg_query_split_with_parser(input.as_ptr())) }
}

/// As [`split_with_parser`], but as the scanner finds them, also for texts that do not parse.
///
/// # Errors
/// The scanner's.
pub fn split_with_scanner(sql: &str) -> Result<Vec<(usize, usize)>> {
    let input = input(sql);
    // SAFETY: as in `json_opts`.
    unsafe { take_split(c::pg_query_split_with_scanner(input.as_ptr())) }
}

/// Whether each statement is a utility statement.
///
/// # Errors
/// The parser's.
pub fn is_utility(sql: &str) -> Result<Vec<bool>> {
    let input = input(sql);
    // SAFETY: as in `json_opts`; `items` has `length` items.
    unsafe {
        let result = c::pg_query_is_utility_stmt(input.as_ptr());
        let answer = checked(result.error).map(|()| slice(result.items, size(result.length)).to_vec());
        c::pg_query_free_is_utility_result(result);
        answer
    }
}

/// The summary: tables, functions, filter columns and statement types, and the text truncated to `max_len` bytes (no text if that is
/// -1).
///
/// # Errors
/// The parser's, or pg_query's if its protobuf message cannot be decoded.
pub fn summary_truncated(sql: &str, max_len: i32) -> Result<protobuf::SummaryResult> {
    let input = input(sql);
    // SAFETY: as in `json_opts`; the protobuf's `data` has `len` bytes.
    unsafe {
        let result = c::pg_query_summary(input.as_ptr(), 0, max_len);
        let answer = checked(result.error).and_then(|()| {
            let bytes = slice(result.summary.data.cast::<u8>(), result.summary.len);
            protobuf::SummaryResult::decode(bytes).map_err(|error| own_error(&error))
        });
        c::pg_query_free_summary_parse_result(result);
        answer
    }
}

/// The summary without a truncated text.
///
/// # Errors
/// As [`summary_truncated`].
pub fn summary(sql: &str) -> Result<protobuf::SummaryResult> {
    summary_truncated(sql, -1)
}

/// The text shortened to `max_len` bytes by the C library, which shortens less important parts first.
///
/// # Errors
/// As [`summary_truncated`].
pub fn truncate(sql: &str, max_len: usize) -> Result<String> {
    let max_len = i32::try_from(max_len).unwrap_or(i32::MAX);
    summary_truncated(sql, max_len).map(|summary| summary.truncated_query)
}

/// As [`truncate`], by the Rust crate.
///
/// # Errors
/// The parser's, or the crate's, with position 0.
pub fn truncate_by_crate(sql: &str, max_len: usize) -> Result<String> {
    let parsed = pg_query::parse(sql, 0).map_err(|error| own_error(&error))?;
    parsed.truncate(max_len).map_err(|error| own_error(&error))
}

/// The process's standard error as it was before the first call of the C library.
static STANDARD_ERROR: LazyLock<Option<OwnedFd>> =
    LazyLock::new(|| std::io::stderr().as_fd().try_clone_to_owned().ok());

/// Puts the process's standard error back as it was before the first call.
pub fn restore_standard_error() {
    if let Some(kept) = LazyLock::force(&STANDARD_ERROR) {
        // If this fails, the error cannot be shown anywhere.
        let _ = rustix::stdio::dup2_stderr(kept);
    }
}

/// # Panics
/// If `sql` contains a NUL byte: C strings end there, so there is nothing to compare.
fn input(sql: &str) -> CString {
    LazyLock::force(&STANDARD_ERROR);
    CString::new(sql).unwrap_or_else(|error| panic!("pg_query takes no NUL bytes: {error}"))
}

fn own_error(error: &dyn fmt::Display) -> Error {
    Error { message: error.to_string(), cursorpos: 0, context: None }
}

fn size(count: c_int) -> usize {
    usize::try_from(count).unwrap_or(0)
}

/// # Safety
/// `error` is null or one of the C library's.
unsafe fn checked(error: *const c::Error) -> Result<()> {
    // SAFETY: the caller promises it.
    let Some(error) = (unsafe { error.as_ref() }) else { return Ok(()) };
    // SAFETY: an error's texts are C strings or null.
    let (message, context) =
        unsafe { (text(error.message), (!error.context.is_null()).then(|| text(error.context))) };
    Err(Error { message, cursorpos: error.cursorpos, context })
}

/// A C string as a Rust string. If C has cut a message inside a character, a replacement character stands there.
///
/// # Safety
/// `text` is null or a C string.
unsafe fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the caller promises it.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// # Safety
/// `text` is a C string that is never freed, or null, which makes an empty one.
unsafe fn constant(text: *const c_char) -> &'static str {
    if text.is_null() {
        return "";
    }
    // SAFETY: the caller promises it.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or_default()
}

/// # Safety
/// `items` is null or has `count` items, which live as long as the slice is used.
unsafe fn slice<'a, T>(items: *const T, count: usize) -> &'a [T] {
    if items.is_null() {
        return &[];
    }
    // SAFETY: the caller promises it.
    unsafe { std::slice::from_raw_parts(items, count) }
}

/// # Safety
/// `result` is the C library's, and `free` frees it.
unsafe fn take_text(result: c::TextResult, free: unsafe extern "C" fn(c::TextResult)) -> Result<String> {
    // SAFETY: the caller promises it.
    unsafe {
        let answer = checked(result.error).map(|()| text(result.text));
        free(result);
        answer
    }
}

/// # Safety
/// `result` is the C library's.
unsafe fn take_split(result: c::SplitResult) -> Result<Vec<(usize, usize)>> {
    // SAFETY: the caller promises it; `stmts` has `n_stmts` pointers, each to a statement.
    unsafe {
        let answer = checked(result.error).map(|()| {
            let statements = slice(result.stmts.cast_const(), size(result.n_stmts));
            statements
                .iter()
                .map(|&statement| (size((*statement).location), size((*statement).len)))
                .collect()
        });
        c::pg_query_free_split_result(result);
        answer
    }
}
