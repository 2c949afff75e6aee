//! pg_query, by its Rust API (Protobuf between C and Rust) and by its C functions, as the crate builds them.

use std::ffi::{CString, c_char, c_int, c_void};

use trunkline_bench_parser::{Function, contend};

/// libpg_query's `PgQueryInternalParsetreeAndError`.
#[repr(C)]
struct Parsed {
    tree: *mut List,
    stderr_buffer: *mut c_char,
    error: *mut c_void,
}

/// The fields of PostgreSQL's `List` that are used here.
#[repr(C)]
struct List {
    tag: c_int,
    length: c_int,
    max_length: c_int,
    elements: *mut *mut c_void,
}

/// PostgreSQL's `StringInfoData`.
#[repr(C)]
struct StringInfo {
    data: *mut c_char,
    len: c_int,
    maxlen: c_int,
    cursor: c_int,
}

#[repr(C)]
struct Tokens {
    tokens: *mut c_void,
    count: c_int,
    error: *mut c_void,
}

unsafe extern "C" {
    fn pg_query_enter_memory_context() -> *mut c_void;
    fn pg_query_exit_memory_context(context: *mut c_void);
    fn pg_query_raw_parse(text: *const c_char, options: c_int) -> Parsed;
    fn pg_query_fingerprint_node(node: *const c_void) -> u64;
    fn initStringInfo(text: *mut StringInfo);
    fn deparseRawStmt(text: *mut StringInfo, statement: *mut c_void);
    fn pg_query_scan_tokens(text: *const c_char) -> Tokens;
    fn free(memory: *mut c_void);
}

/// Makes the bare C call, and calls `then` with the tree before it is freed.
fn with_tree(text: &CString, then: impl Fn(*mut List) -> usize) -> usize {
    // SAFETY: these are the same calls, in the same order, that pg_query's own functions make. The statements raise no error.
    unsafe {
        let context = pg_query_enter_memory_context();
        let parsed = pg_query_raw_parse(text.as_ptr(), 0);
        let result = then(parsed.tree);
        free(parsed.stderr_buffer.cast());
        pg_query_exit_memory_context(context);
        result
    }
}

fn c(text: &str) -> CString {
    CString::new(text).expect("no NUL")
}

const FUNCTIONS: &[Function] = &[
    ("parse", |text| {
        Some(Box::new(move || pg_query::parse(text, 0).map_or(0, |tree| tree.protobuf.stmts.len())))
    }),
    ("deparse", |text| {
        let tree = pg_query::parse(text, 0).ok()?;
        Some(Box::new(move || tree.deparse(pg_query::DeparseOptions::default()).map_or(0, |text| text.len())))
    }),
    ("fingerprint", |text| {
        let options = pg_query::FingerprintOptions::default();
        let parser = pg_query::ParserOptions::default();
        Some(Box::new(move || {
            pg_query::fingerprint(text, parser, options).map_or(0, |print| print.value as usize)
        }))
    }),
    ("normalize", |text| Some(Box::new(move || pg_query::normalize(text).map_or(0, |text| text.len())))),
    ("scan", |text| Some(Box::new(move || pg_query::scan(text).map_or(0, |result| result.tokens.len())))),
    ("C parse", |text| {
        let text = c(text);
        // SAFETY: the tree lives until the memory context is freed.
        Some(Box::new(move || with_tree(&text, |tree| unsafe { (*tree).length as usize })))
    }),
    ("C parse and deparse", |text| {
        let text = c(text);
        Some(Box::new(move || {
            with_tree(&text, |tree| {
                // SAFETY: the memory context still lives; the list's elements are RawStmts.
                unsafe {
                    let mut out: StringInfo = std::mem::zeroed();
                    initStringInfo(&mut out);
                    for place in 0..(*tree).length as usize {
                        deparseRawStmt(&mut out, *(*tree).elements.add(place));
                    }
                    out.len as usize
                }
            })
        }))
    }),
    ("C parse and fingerprint", |text| {
        let text = c(text);
        // SAFETY: the memory context still lives.
        Some(Box::new(move || {
            with_tree(&text, |tree| unsafe { pg_query_fingerprint_node(tree.cast()) } as usize)
        }))
    }),
    ("C tokens", |text| {
        let text = c(text);
        Some(Box::new(move || {
            // SAFETY: the text ends in NUL, and the caller must free the array.
            unsafe {
                let result = pg_query_scan_tokens(text.as_ptr());
                free(result.tokens);
                result.count as usize
            }
        }))
    }),
];

fn main() {
    contend(FUNCTIONS);
}
