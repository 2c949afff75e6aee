//! libpg_query's functions and the structs they return, as `pg_query.h` of pg_query 18.1 declares them. The Rust crate's
//! own declarations are private, and do not have positions of errors.

use std::ffi::{c_char, c_int};

#[repr(C)]
pub(super) struct Error {
    pub(super) message: *mut c_char,
    pub(super) funcname: *mut c_char,
    pub(super) filename: *mut c_char,
    pub(super) lineno: c_int,
    pub(super) cursorpos: c_int,
    pub(super) context: *mut c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Protobuf {
    pub(super) len: usize,
    pub(super) data: *mut c_char,
}

#[repr(C)]
pub(super) struct ParseResult {
    pub(super) parse_tree: *mut c_char,
    pub(super) stderr_buffer: *mut c_char,
    pub(super) error: *mut Error,
}

#[repr(C)]
pub(super) struct ProtobufParseResult {
    pub(super) parse_tree: Protobuf,
    pub(super) stderr_buffer: *mut c_char,
    pub(super) error: *mut Error,
}

#[repr(C)]
pub(super) struct FingerprintResult {
    pub(super) fingerprint: u64,
    pub(super) fingerprint_str: *mut c_char,
    pub(super) stderr_buffer: *mut c_char,
    pub(super) error: *mut Error,
}

/// The result of deparse, normalize and PL/pgSQL: a text or an error.
#[repr(C)]
pub(super) struct TextResult {
    pub(super) text: *mut c_char,
    pub(super) error: *mut Error,
}

#[repr(C)]
pub(super) struct ScanToken {
    pub(super) start: c_int,
    pub(super) end: c_int,
    pub(super) token: c_int,
    pub(super) keyword_kind: c_int,
}

#[repr(C)]
pub(super) struct ScanTokensResult {
    pub(super) tokens: *mut ScanToken,
    pub(super) n_tokens: c_int,
    pub(super) error: *mut Error,
}

#[repr(C)]
pub(super) struct SplitStatement {
    pub(super) location: c_int,
    pub(super) len: c_int,
}

#[repr(C)]
pub(super) struct SplitResult {
    pub(super) stmts: *mut *mut SplitStatement,
    pub(super) n_stmts: c_int,
    pub(super) stderr_buffer: *mut c_char,
    pub(super) error: *mut Error,
}

#[repr(C)]
pub(super) struct IsUtilityResult {
    pub(super) length: c_int,
    pub(super) items: *mut bool,
    pub(super) error: *mut Error,
}

#[repr(C)]
pub(super) struct SummaryResult {
    pub(super) summary: Protobuf,
    pub(super) stderr_buffer: *mut c_char,
    pub(super) error: *mut Error,
}

#[repr(C)]
pub(super) struct DeparseComment {
    pub(super) match_location: c_int,
    pub(super) newlines_before_comment: c_int,
    pub(super) newlines_after_comment: c_int,
    pub(super) text: *mut c_char,
}

#[repr(C)]
pub(super) struct DeparseCommentsResult {
    pub(super) comments: *mut *mut DeparseComment,
    pub(super) comment_count: usize,
    pub(super) error: *mut Error,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct DeparseOptions {
    pub(super) comments: *mut *mut DeparseComment,
    pub(super) comment_count: usize,
    pub(super) pretty_print: bool,
    pub(super) indent_size: c_int,
    pub(super) max_line_length: c_int,
    pub(super) trailing_newline: bool,
    pub(super) commas_start_of_line: bool,
}

unsafe extern "C" {
    pub(super) fn pg_query_parse_opts(input: *const c_char, parser_options: c_int) -> ParseResult;
    pub(super) fn pg_query_free_parse_result(result: ParseResult);
    pub(super) fn pg_query_parse_protobuf(input: *const c_char) -> ProtobufParseResult;
    pub(super) fn pg_query_free_protobuf_parse_result(result: ProtobufParseResult);
    pub(super) fn pg_query_fingerprint_opts(
        input: *const c_char,
        parser_options: c_int,
        fingerprint_options: c_int,
    ) -> FingerprintResult;
    pub(super) fn pg_query_free_fingerprint_result(result: FingerprintResult);
    pub(super) fn pg_query_deparse_protobuf_opts(parse_tree: Protobuf, opts: DeparseOptions) -> TextResult;
    pub(super) fn pg_query_free_deparse_result(result: TextResult);
    pub(super) fn pg_query_deparse_comments_for_query(query: *const c_char) -> DeparseCommentsResult;
    pub(super) fn pg_query_free_deparse_comments_result(result: DeparseCommentsResult);
    pub(super) fn pg_query_normalize(input: *const c_char) -> TextResult;
    pub(super) fn pg_query_normalize_utility(input: *const c_char) -> TextResult;
    pub(super) fn pg_query_free_normalize_result(result: TextResult);
    pub(super) fn pg_query_parse_plpgsql(input: *const c_char) -> TextResult;
    pub(super) fn pg_query_free_plpgsql_parse_result(result: TextResult);
    pub(super) fn pg_query_scan_tokens(input: *const c_char) -> ScanTokensResult;
    pub(super) fn pg_query_free_scan_tokens_result(result: ScanTokensResult);
    pub(super) fn pg_query_token_name(token: c_int) -> *const c_char;
    pub(super) fn pg_query_keyword_kind_name(kind: c_int) -> *const c_char;
    pub(super) fn pg_query_split_with_scanner(input: *const c_char) -> SplitResult;
    pub(super) fn pg_query_split_with_parser(input: *const c_char) -> SplitResult;
    pub(super) fn pg_query_free_split_result(result: SplitResult);
    pub(super) fn pg_query_is_utility_stmt(query: *const c_char) -> IsUtilityResult;
    pub(super) fn pg_query_free_is_utility_result(result: IsUtilityResult);
    pub(super) fn pg_query_summary(
        input: *const c_char,
        parser_options: c_int,
        truncate_limit: c_int,
    ) -> SummaryResult;
    pub(super) fn pg_query_free_summary_parse_result(result: SummaryResult);
}
