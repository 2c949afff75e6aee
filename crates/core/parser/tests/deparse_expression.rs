//! Trees as deep as they come, on a stack as small as they come. Code that takes more than linear time does not end
//! here.

use trunkline_parser::edit::{self, CaseExprMut, Fragment, NodeMut};
use trunkline_parser::{DeparseError, DeparseOptions, parse};

const STACK_BYTES: usize = 2 * 1024 * 1024;
const LEVELS: usize = 100_000;
/// PostgreSQL's grammar has a stack for 10,000 symbols, of which a level may take five.
const PARSED_LEVELS: usize = 1_500;
/// To hang a tree into a new node takes time by its size, so fewer levels are built that way.
const WRAPPED_LEVELS: usize = 10_000;

fn on_small_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
        thread.expect("a thread").join().expect("no panic")
    })
}

/// The text of a statement's tree.
fn deparsed(sql: &str, options: &DeparseOptions) -> Result<String, DeparseError> {
    on_small_stack(|| parse(sql).expect("SQL that parses").deparse_with(options))
}

/// Compares without printing what may be megabytes.
fn assert_is(expected: &str, got: &str) {
    let at = expected.bytes().zip(got.bytes()).take_while(|(left, right)| left == right).count();
    let around = |text: &str| {
        String::from_utf8_lossy(
            text.as_bytes()
                .iter()
                .skip(at.saturating_sub(40))
                .take(80)
                .copied()
                .collect::<Vec<_>>()
                .as_slice(),
        )
        .into_owned()
    };
    assert!(expected == got, "they differ from byte {at} on: {:?}, but {:?}", around(expected), around(got));
}

/// What is nested: an opening for each level, what is inside, a closing for each level.
fn nested(open: &str, inside: &str, close: &str, levels: usize) -> String {
    format!("{}{inside}{}", open.repeat(levels), close.repeat(levels))
}

/// A statement whose text is what it was parsed from.
fn assert_stays(expression: &str) {
    let sql = format!("SELECT {expression}");
    assert_is(&sql, &deparsed(&sql, &DeparseOptions::default()).expect("a text"));
}

/// A tree that is deeper than the grammar can make it has no text, and takes no stack for its depth.
fn assert_refused_when_wrapped(inside: &str, wrap: impl Fn(Fragment) -> Fragment + Sync) {
    let got = on_small_stack(|| {
        let inside = edit::expression(inside).expect("an expression");
        (0..WRAPPED_LEVELS)
            .fold(inside, |inside, _| wrap(inside))
            .node()
            .deparse()
            .expect_err("it is too deep")
    });
    assert!(got.to_string().contains("memory exhausted"), "{got}");
}

#[test]
fn operators() {
    assert_stays(&nested("", "1", " + 1", LEVELS));
    assert_refused_when_wrapped("1", |inside| {
        edit::operator("+", edit::expression("1").expect("a number"), inside).expect("an operator")
    });
    assert_stays(&nested("", "a", " COLLATE b", LEVELS));
    assert_stays(&nested("", "a", " AT TIME ZONE b", LEVELS));
    assert_stays(&nested("- ", "a", "", PARSED_LEVELS));
}

#[test]
fn casts() {
    assert_stays(&nested("", "a", "::int[]", LEVELS));
    assert_stays(&nested("(- ", "a", ")::int", PARSED_LEVELS));
}

#[test]
fn conditions() {
    assert_stays(&nested("", "a", " OR a", LEVELS));
    assert_stays(&nested("", "a", " AND a", LEVELS));
    assert_stays(&nested("a OR (a AND (", "b OR b", "))", PARSED_LEVELS));
    assert_stays(&nested("(", "a IS NULL", ") IS NULL", PARSED_LEVELS));
}

#[test]
fn negations() {
    assert_refused_when_wrapped("a", |inside| edit::not(inside).expect("a negation"));
    let sql = format!("SELECT {}", nested("NOT (", "a", ")", PARSED_LEVELS));
    let expected = format!("SELECT {}", nested("NOT ", "a", "", PARSED_LEVELS));
    assert_is(&expected, &deparsed(&sql, &DeparseOptions::default()).expect("a text"));
}

#[test]
fn cases() {
    assert_stays(&nested("CASE WHEN a THEN ", "b", " ELSE c END", PARSED_LEVELS));
    assert_stays(&nested("CASE WHEN ", "a", " THEN 1 END", PARSED_LEVELS));
    let got = on_small_stack(|| {
        let part = || edit::expression("CASE WHEN a THEN b END").expect("a CASE");
        let mut outermost = part();
        let mut case = outermost.node_mut().cast::<CaseExprMut<'_>>().expect("a CASE");
        for _ in 1..LEVELS {
            case.set_defresult(Some(part())).expect("memory");
            case = case.into_defresult().and_then(NodeMut::cast).expect("a CASE");
        }
        outermost.node().deparse().expect_err("it is too deep")
    });
    assert!(got.to_string().contains("memory exhausted"), "{got}");
}

#[test]
fn calls_and_constructors() {
    assert_refused_when_wrapped("a", |inside| edit::function(&["f"], [inside]).expect("a call"));
    assert_stays(&nested("f(a) FILTER (WHERE ", "a", ")", PARSED_LEVELS));
    assert_stays(&nested("xmlexists (", "a", " PASSING a)", PARSED_LEVELS));
    assert_stays(&nested("ARRAY[", "a", "]", PARSED_LEVELS));
    assert_stays(&nested("ROW(", "a", ", b)", PARSED_LEVELS));
    assert_stays(&nested("a[", "b", "]", PARSED_LEVELS));
    assert_stays(&nested("JSON_ARRAY(", "a", ")", PARSED_LEVELS));
    assert_stays(&nested("COALESCE(", "a", ", b)", PARSED_LEVELS));
}

#[test]
fn lists() {
    assert_stays(&format!("a IN ({})", vec!["1"; 1_000_000].join(", ")));
    assert_stays(&format!("f({})", vec!["1"; LEVELS].join(", ")));
    assert_stays(&format!("CASE {} END", vec!["WHEN a THEN b"; LEVELS].join(" ")));
}

#[test]
fn laid_out() {
    let options = DeparseOptions { pretty: true, ..DeparseOptions::default() };
    let sql = format!("SELECT {}", nested("CASE WHEN a THEN ", "b", " ELSE c END", PARSED_LEVELS));
    let text = deparsed(&sql, &options).expect("a text");
    assert!(text.lines().count() > 2 * PARSED_LEVELS, "{} lines", text.lines().count());
    assert_is(&sql, &deparsed(&text, &DeparseOptions::default()).expect("a text"));
    let sql = format!("SELECT {}", nested("", "1", " + 1", LEVELS));
    assert_is(
        &sql,
        &deparsed(&deparsed(&sql, &options).expect("a text"), &DeparseOptions::default()).expect("a text"),
    );
}

#[test]
fn what_is_too_deep_is_an_error() {
    let sql = format!("SELECT {}", nested("", "1", " + 1", 300_000));
    let error = deparsed(&sql, &DeparseOptions::default()).expect_err("it is too deep");
    assert_eq!(error.to_string(), "this tree cannot be written as SQL: it is more than 250000 levels deep");
}

/// Found by the fuzz target `sql_deparse`.
#[test]
fn letters_that_libpg_query_writes_so_that_they_cannot_be_read_again() {
    for sql in ["SELECT x'1\\0', b'\\'", "SELECT $0"] {
        let tree = parse(sql).expect("SQL");
        assert_eq!(tree.deparse().as_deref(), Ok(sql));
    }
}
