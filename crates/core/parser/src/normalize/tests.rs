use super::{normalize, normalize_utility};
use crate::ParseOptions;

fn normalized(text: &str) -> String {
    normalize(text).expect("it parses")
}

#[test]
fn constants_are_numbered_in_the_order_of_the_walk() {
    assert_eq!(normalized("SELECT 1 LIMIT 2 OFFSET 3"), "SELECT $1 LIMIT $3 OFFSET $2");
    assert_eq!(normalized("SELECT 'a', $5, 'b'"), "SELECT $6, $5, $7");
    assert_eq!(normalized("SELECT -1, - 5, - - 2, -(-3), -(4), - ( - (5))"), "SELECT $1, $2, $3, $4, $5, $6");
}

#[test]
fn every_kind_of_constant_is_replaced() {
    let text = "SELECT 1, 1.5, 'a' 'b', E'\\'', $$x$$, B'1', X'f', U&'\\0041' UESCAPE '!', N'n', true, NULL";
    let expected = "SELECT $1, $2, $3 'b', $4, $5, $6, $7, $8 UESCAPE '!', N$9, $10, $11";
    assert_eq!(normalized(&text.replace("'a' 'b'", "'a'")), expected.replace("$3 'b'", "$3"));
    assert_eq!(normalized("SELECT 'a'\n'b', 'c'"), "SELECT $1, $2");
    assert_eq!(
        normalized("SELECT numeric(10, 2) '1', 'x'::varchar(3)"),
        "SELECT numeric(10, 2) $1, $2::varchar(3)"
    );
}

#[test]
fn expressions_in_group_by_have_the_parameters_of_their_target() {
    assert_eq!(
        normalized("SELECT a + 1, b + 2 FROM t GROUP BY b + 2, a + 1 ORDER BY 1, a + 3"),
        "SELECT a + $1, b + $2 FROM t GROUP BY b + $2, a + $1 ORDER BY 1, a + $3"
    );
    assert_eq!(normalized("SELECT f(1), 2 GROUP BY 1, f(1)"), "SELECT f($1), $2 GROUP BY 1, f($1)");
}

#[test]
fn only_utility_statements_are_normalized() {
    let text = "SELECT 1; ALTER ROLE a PASSWORD 'secret'; NOTIFY c, 'd'; SET a = 'b'";
    assert_eq!(
        normalize_utility(text).expect("it parses"),
        "SELECT 1; ALTER ROLE a PASSWORD $1; NOTIFY c, $2; SET a = 'b'"
    );
    assert_eq!(normalized(text), "SELECT $1; ALTER ROLE a PASSWORD $2; NOTIFY c, $3; SET a = $4");
}

#[test]
fn texts_without_constants_do_not_change() {
    for text in ["", ";", " -- 1\n", "/* 'a' */", "COMMIT"] {
        assert_eq!(normalized(text), text);
    }
}

/// The depth and size of test inputs, which are too deep for a recursion on a thread's 2 MiB stack.
const DEEP: usize = 100_000;

#[test]
fn deep_trees_and_long_lists() {
    let sum = format!("SELECT 1{}", "+1".repeat(DEEP));
    assert!(normalized(&sum).ends_with(&format!("+${}", DEEP + 1)));
    let list = format!("SELECT a IN (1{})", ", 1".repeat(10 * DEEP));
    assert!(normalized(&list).ends_with(&format!(", ${})", 10 * DEEP + 1)));
    let grouped = format!("SELECT a+1{0} GROUP BY a+1{0}", ", a+1".repeat(DEEP));
    assert!(normalized(&grouped).ends_with(&format!(", a+${}", DEEP + 1)));
    let row = format!("UPDATE t SET (a{}) = (1{})", ", a".repeat(DEEP), ", 1".repeat(DEEP));
    assert!(normalized(&row).contains("= ($1, $"));
    let unions = format!("SELECT 1{}", " UNION SELECT 1".repeat(DEEP / 10));
    assert!(normalized(&unions).contains(&format!("${}", DEEP / 10 + 1)));
}

#[test]
fn a_text_that_does_not_parse_is_an_error() {
    for text in ["SELECT 'a", "SELECT /* 1", "SELECT $$ 1", "SELECT \"a", "SELECT 1 1", "a\0"] {
        assert!(normalize(text).is_err(), "{text}");
    }
    let nested = format!("SELECT {}1{}", "(".repeat(DEEP), ")".repeat(DEEP));
    match normalize(&nested) {
        Ok(text) => assert!(text.contains("($1)")),
        Err(error) => assert!(error.message().starts_with("memory exhausted"), "{error}"),
    }
}

#[test]
fn the_session_decides_where_strings_end() {
    let options = ParseOptions { standard_conforming_strings: false, ..ParseOptions::default() };
    let text = r"SELECT 'a\'b', 1; CREATE ROLE a PASSWORD 'b\'c'";
    let tree = crate::parse_with(text, options).expect("it parses");
    assert_eq!(tree.normalize_with(text, options), "SELECT $1, $2; CREATE ROLE a PASSWORD $3");
    let utility = tree.normalize_utility_with(text, options);
    assert_eq!(utility, r"SELECT 'a\'b', 1; CREATE ROLE a PASSWORD $1");
}
