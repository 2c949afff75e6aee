use super::truncate;

fn short(text: &str, bytes_max: usize) -> String {
    truncate(text, bytes_max).expect("it parses")
}

#[test]
fn each_kind_of_clause() {
    assert_eq!(short("SELECT a, b, c FROM t WHERE d = 1", 30), "SELECT ... FROM t WHERE d = 1");
    assert_eq!(short("SELECT DISTINCT a, b, c, d, e, f FROM t", 36), "SELECT DISTINCT ... AS ... FROM t");
    assert_eq!(
        short("INSERT INTO t (a, b, c) VALUES (1, 2, 3), (4, 5, 6)", 40),
        "INSERT INTO t (a, b, c) VALUES (...)"
    );
    assert_eq!(
        short("INSERT INTO t (a, b, c) VALUES (1, 2, 3), (4, 5, 6)", 32),
        "INSERT INTO t (...) VALUES (...)"
    );
    assert_eq!(short("UPDATE t SET a = 1, b = 2 WHERE c = 3", 34), "UPDATE t SET ... = ... WHERE c = 3");
    assert_eq!(short("SELECT WHERE a = b AND c", 10), "...");
}

#[test]
fn a_text_that_is_still_too_long_is_cut() {
    assert_eq!(short("SELECT a FROM t", 8), "SELEC...");
    assert_eq!(short("SELECT a FROM t", 0), "...");
    assert_eq!(short("SELECT a FROM t", 15), "SELECT a FROM t");
    assert_eq!(short("", 0), "");
    assert!(truncate("SELECT 'a", 10).is_err());
}

const DEEP: usize = 100_000;

#[test]
fn deep_trees_and_long_lists() {
    let sum = format!("SELECT 1{} FROM t", "+1".repeat(DEEP));
    assert_eq!(short(&sum, 20), "SELECT ... FROM t");
    let list = format!("SELECT 1 FROM t WHERE a IN (1{})", ",1".repeat(10 * DEEP));
    assert_eq!(short(&list, 30), "SELECT 1 FROM t WHERE ...");
    // PostgreSQL's parser takes not many more.
    let depth = 500;
    let nested = "SELECT a FROM t WHERE b IN (".repeat(depth) + "SELECT 1" + &")".repeat(depth);
    assert_eq!(short(&nested, 30), "SELECT a FROM t WHERE ...");
    let row = format!("UPDATE t SET (a{}) = (1{})", ", a".repeat(DEEP), ", 1".repeat(DEEP));
    assert_eq!(short(&row, 30), "UPDATE t SET ... = ...");
}
