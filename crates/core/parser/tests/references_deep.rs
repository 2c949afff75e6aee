//! Size and depth: no stack, and no more time than the text is long.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use trunkline_parser::parse;

/// What each of these may take: more than a hundred times what it does in a debug build, far less than anything quadratic
/// would.
const TIME_MAX: Duration = Duration::from_secs(20);
const MANY: usize = 20_000;
/// How deep texts nest to the right: the grammar's own stack (10,000 symbols) takes no more.
const NESTED: usize = 1_000;

/// How many relations and comparisons a text has, found on a small stack.
#[track_caller]
fn counted(sql: &str) -> (usize, usize) {
    let tree = parse(sql).expect("it is SQL");
    let thread = std::thread::Builder::new().stack_size(256 * 1024);
    let began = Instant::now();
    let counted = thread
        .spawn(move || {
            let found = tree.references();
            (found.relations().len(), found.comparisons().len())
        })
        .expect("a thread")
        .join()
        .expect("no panic");
    assert!(began.elapsed() < TIME_MAX, "it took {:?}", began.elapsed());
    counted
}

#[test]
fn conditions_to_the_right() {
    let sql = format!("SELECT FROM t WHERE {}true{}", "a = 1 AND (".repeat(NESTED), ")".repeat(NESTED));
    assert_eq!(counted(&sql), (1, NESTED));
}

#[test]
fn queries_within_queries_each_with_a_name() {
    // Every name is in sight below its own query, and shadows the one above.
    let begin = "WITH x AS (SELECT 1) SELECT * FROM x, (";
    let sql = format!("{}SELECT 1{}", begin.repeat(NESTED), ") y".repeat(NESTED));
    assert_eq!(counted(&sql), (0, 0));
    let begin = "WITH x AS (";
    let sql = format!("{}SELECT * FROM x{}", begin.repeat(NESTED), ") SELECT * FROM x".repeat(NESTED));
    assert_eq!(counted(&sql), (1, 0));
}

#[test]
fn many_names_each_of_the_one_before() {
    let mut sql = "WITH x0 AS (SELECT 1)".to_owned();
    for number in 1..MANY {
        let _ = write!(sql, ", x{number} AS (SELECT * FROM x{}, t)", number - 1);
    }
    sql.push_str(" SELECT * FROM x1, u");
    assert_eq!(counted(&sql), (MANY, 0));
}

#[test]
fn many_tables_locked_by_name() {
    let names: Vec<_> = (0..MANY).map(|number| format!("t{number}")).collect();
    let names = names.join(", ");
    assert_eq!(counted(&format!("SELECT FROM {names} FOR UPDATE OF {names}")), (MANY, 0));
}

#[test]
fn many_values() {
    let list = "1, ".repeat(100_000);
    assert_eq!(counted(&format!("SELECT FROM t WHERE a IN ({list}2)")), (1, 1));
    assert_eq!(counted(&format!("INSERT INTO t VALUES ({list}2)")), (1, 100_001));
    let rows = "(1, 2), ".repeat(50_000);
    assert_eq!(counted(&format!("INSERT INTO t (a, b) VALUES {rows}(3, 4)")), (1, 2));
}

#[test]
fn joins_within_joins() {
    let sql = format!("SELECT FROM t{}", " JOIN t ON a = 1".repeat(MANY));
    assert_eq!(counted(&sql), (MANY + 1, MANY));
}

#[test]
fn unions_within_unions() {
    let sql = format!("SELECT FROM t{}", " UNION ALL SELECT FROM t WHERE a = 1".repeat(MANY));
    assert_eq!(counted(&sql), (MANY + 1, MANY));
}
