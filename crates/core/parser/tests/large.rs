//! Texts of 50 MB.

use trunkline_parser::{SqlState, is_utility, normalize, parse, scan, split_with_scanner};

const LARGE: usize = 50_000_000;

/// Everything reads a text in time by its length: the tree, and what the text becomes when it is written again.
#[track_caller]
fn is_read(sql: &str) {
    assert!(sql.len() >= LARGE);
    let tree = parse(sql).unwrap_or_else(|error| panic!("{error}"));
    let written = tree.deparse().expect("a text");
    let again = parse(&written).unwrap_or_else(|error| panic!("{error}"));
    assert!(again == tree);
    assert!(!tree.to_json().is_empty());
    assert_eq!(tree.fingerprint(), again.fingerprint());
    assert!(!tree.normalize(sql).is_empty());
    assert_eq!(is_utility(sql), Ok(vec![false]));
    assert!(scan(sql).is_ok());
    assert_eq!(split_with_scanner(sql).map(|pieces| pieces.len()), Ok(1));
}

#[test]
fn one_string() {
    is_read(&format!("SELECT '{}'", "é''".repeat(LARGE / 4)));
}

#[test]
fn many_rows() {
    let row = format!("(1, '{}')", "x".repeat(1000));
    let rows = vec![row; LARGE / 1000];
    is_read(&format!("INSERT INTO t VALUES {}", rows.join(",")));
}

#[test]
fn white_space_and_comments() {
    is_read(&format!("SELECT {} 1", " ".repeat(LARGE)));
    is_read(&format!("SELECT /*{}*/ 1", "/**/".repeat(LARGE / 4)));
    is_read(&format!("SELECT {}1", "--é\n".repeat(LARGE / 4)));
}

#[test]
fn names() {
    is_read(&format!("SELECT {}", "a".repeat(LARGE)));
}

#[test]
fn what_is_no_sql() {
    let operators = "+".repeat(LARGE);
    let error = parse(&format!("SELECT {operators}")).expect_err("it is no SQL");
    assert_eq!(error.sqlstate(), SqlState::PROGRAM_LIMIT_EXCEEDED, "{error}");
    for (sql, message) in [
        (format!("SELECT '{}", "a".repeat(LARGE)), "unterminated quoted string"),
        (format!("SELECT {}", "(".repeat(LARGE)), "memory exhausted"),
        (format!("SELECT {}", "/*".repeat(LARGE / 2)), "unterminated /* comment"),
        (format!("SELECT {} x", ") ".repeat(LARGE / 2)), "syntax error"),
    ] {
        let error = parse(&sql).expect_err("it is no SQL");
        assert!(error.message().starts_with(message), "{error}");
        assert!(error.position().is_some_and(|position| position < sql.len()), "{error}");
        assert_eq!(normalize(&sql).err(), Some(error));
    }
}
