//! Queries deeper than a stack, and longer than anything quadratic would finish.

use std::iter::repeat_n;
use std::thread;

use trunkline_parser::DeparseOptions;

/// The default stack of a thread.
const STACK_BYTES: usize = 2 * 1024 * 1024;
/// How deep queries may be nested: the grammar keeps 10,000 symbols, of which each level takes six.
const NESTED: usize = 1_600;

/// Checks what becomes of `sql` in one line, on a thread with a stack of the usual size.
fn writes(sql: String, expected: &str) {
    let written = thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || trunkline_parser::parse(&sql).map(|tree| tree.deparse()))
        .and_then(|thread| thread.join().map_err(|_| std::io::Error::other("the thread panicked")))
        .expect("a thread")
        .expect("SQL")
        .expect("a tree with a text");
    // Not by assert_eq, which would print megabytes.
    assert!(written == expected, "{} bytes are not the {} expected", written.len(), expected.len());
}

fn repeated(before: &str, piece: &str, count: usize, after: &str) -> String {
    let mut text = String::from(before);
    text.extend(repeat_n(piece, count));
    text + after
}

#[test]
fn a_hundred_thousand_joins() {
    let sql = repeated("SELECT 1 FROM a", " JOIN b ON a.x = b.x", 100_000, "");
    let text = sql.clone();
    writes(sql, &text);
    let parentheses = "(".repeat(9_000);
    let sql = repeated("SELECT 1 FROM ", &parentheses, 1, "a") + &" CROSS JOIN b) c".repeat(9_000);
    let text = repeated("SELECT 1 FROM ", &parentheses, 1, "a") + &" CROSS JOIN b ) c".repeat(9_000);
    writes(sql, &text);
}

#[test]
fn joins_on_the_right() {
    let sql = repeated("SELECT 1 FROM ", "a CROSS JOIN (", 2_000, "a CROSS JOIN b") + &")".repeat(2_000);
    let text = sql.clone();
    writes(sql, &text);
}

#[test]
fn a_hundred_thousand_unions() {
    let count = 100_000;
    let sql = repeated("SELECT 1", " UNION SELECT 2", count, "");
    let text = sql.clone();
    writes(sql, &text);
    // Left sides are in parentheses where they must be,
    let sql = repeated(
        "(SELECT 1",
        " EXCEPT SELECT 2",
        count,
        ") INTERSECT SELECT 3 UNION (SELECT 4 UNION SELECT 5)",
    );
    let text = sql.clone();
    writes(sql, &text);
    let sql = repeated("(SELECT 1 UNION SELECT 2 LIMIT 1)", " UNION SELECT 2", count, " ORDER BY 1");
    let text = sql.clone();
    writes(sql, &text);
    // and all of those that are set operations where the chain is short.
    let count = 1_000;
    let sql = repeated("SELECT 1", " UNION SELECT 2", count, "");
    let text = "(".repeat(count - 1) + "SELECT 1 UNION SELECT 2" + &") UNION SELECT 2".repeat(count - 1);
    writes(sql, &text);
}

#[test]
fn nested_subqueries() {
    let sql = repeated("", "SELECT x FROM (", NESTED, "SELECT 1 x") + &") AS y".repeat(NESTED);
    let text = repeated("", "SELECT x FROM (", NESTED, "SELECT 1 AS x") + &") y".repeat(NESTED);
    writes(sql, &text);
    let sql = repeated("", "SELECT (", NESTED, "SELECT 1") + &")".repeat(NESTED);
    let text = sql.clone();
    writes(sql, &text);
}

#[test]
fn nested_queries_of_with() {
    let sql = repeated("", "WITH x AS (", NESTED, "SELECT 1") + &") DELETE FROM t".repeat(NESTED);
    let text = sql.clone();
    writes(sql, &text);
    let sql = repeated("SELECT 1 GROUP BY ", "GROUPING SETS (", NESTED, "a") + &")".repeat(NESTED);
    let text = sql.clone();
    writes(sql, &text);
}

#[test]
fn a_million_elements() {
    let elements = repeated("", "1, ", 1_000_000, "1");
    let sql = format!("SELECT a FROM b WHERE c IN ({elements})");
    let text = sql.clone();
    writes(sql, &text);
    let sql = repeated("INSERT INTO t VALUES ", "(1, 'a'), ", 300_000, "(1, 'a')");
    let text = sql.clone();
    writes(sql, &text);
    let sql = repeated("INSERT INTO t VALUES (", "1, ", 1_000_000, "1)");
    let text = sql.clone();
    writes(sql, &text);
}

#[test]
fn unions_laid_out() {
    let count = 30_000;
    let sql = repeated("SELECT 1", " UNION SELECT 2", count, "");
    let pretty = DeparseOptions { pretty: true, indent: 1, ..DeparseOptions::default() };
    let text = trunkline_parser::parse(&sql).expect("SQL").deparse_with(&pretty).expect("a tree with a text");
    assert_eq!(text.lines().filter(|line| line.trim_start().starts_with("UNION")).count(), count);
}

#[test]
fn laid_out() {
    let tree = trunkline_parser::parse(
        "select a, b from c join d on e where f union all select 1, 2 order by 1 limit 3",
    )
    .expect("SQL");
    let pretty = DeparseOptions { pretty: true, ..DeparseOptions::default() };
    let text =
        "SELECT a, b\nFROM\n    c\n    JOIN d ON e\nWHERE f\nUNION ALL\nSELECT 1, 2\nORDER BY 1\nLIMIT 3";
    assert_eq!(tree.deparse_with(&pretty).expect("a tree with a text"), text);
}
