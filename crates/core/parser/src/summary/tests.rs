use super::{Summary, summary};

fn of(text: &str) -> Summary {
    summary(text).expect("it parses")
}

fn tables(text: &str) -> Vec<String> {
    of(text).tables.into_iter().map(|table| table.name).collect()
}

#[test]
fn names_of_with_are_no_tables() {
    assert_eq!(tables("WITH a AS (SELECT * FROM a) SELECT * FROM a, b"), ["b", "a"]);
    assert_eq!(tables("WITH RECURSIVE a AS (SELECT * FROM a) SELECT * FROM a, b"), ["b"]);
    assert_eq!(tables("WITH a AS (SELECT 1) SELECT * FROM s.a"), ["s.a"]);
    assert_eq!(tables("WITH a AS (SELECT 1) INSERT INTO a SELECT * FROM a"), ["a"]);
}

#[test]
fn names_are_quoted_where_needed() {
    assert_eq!(
        tables("SELECT 1 FROM \"select\".\"A\"\"b\", between, \"ab_1\""),
        ["\"select\".\"A\"\"b\"", "\"between\"", "ab_1"]
    );
}

#[test]
fn what_a_filter_names() {
    let found = of("SELECT 1 FROM t WHERE f(t.a) = b AND c IN (SELECT 1) AND d = 1");
    let columns: Vec<_> = found.filter_columns.iter().map(|column| column.column.as_str()).collect();
    assert_eq!(columns, ["a", "b", "c"]);
    assert_eq!(found.functions.len(), 2);
}

#[test]
fn utility_statements() {
    assert_eq!(
        tables("DROP TABLE a, s.b; ALTER TABLE c RENAME TO d; TRUNCATE e"),
        ["a", "s.b", "c", "d", "e"]
    );
    assert_eq!(tables("DROP TRIGGER t ON s.a; EXPLAIN SELECT 1 FROM b"), ["s.a", "b"]);
    let found = of("EXPLAIN SELECT 1; COPY (SELECT 2) TO STDOUT; CREATE VIEW v AS VALUES (1)");
    assert_eq!(found.statement_types, ["ExplainStmt", "SelectStmt", "CopyStmt", "ViewStmt"]);
    assert!(summary("DROP TABLE a.b.c.d").is_err_and(|error| error.message().contains("a.b.c.d")));
}

#[test]
fn nothing_and_what_does_not_parse() {
    for text in ["", ";", "-- SELECT 1"] {
        assert_eq!(of(text), Summary::default());
    }
    assert!(summary("SELECT 'a").is_err());
}

const DEEP: usize = 100_000;

#[test]
fn deep_trees_and_long_lists() {
    let sum = format!("SELECT 1 FROM t WHERE a{}", "+a".repeat(DEEP));
    assert_eq!(of(&sum).filter_columns.len(), DEEP + 1);
    let list = format!("SELECT 1 FROM t WHERE a IN (1{})", ",1".repeat(10 * DEEP));
    assert_eq!(of(&list).filter_columns.len(), 1);
    let joins = format!("SELECT 1 FROM t{}", " JOIN t ON true".repeat(DEEP / 10));
    assert_eq!(tables(&joins).len(), DEEP / 10 + 1);
    let row = format!("UPDATE t SET (a{}) = (f(1){})", ", a".repeat(DEEP), ", f(1)".repeat(DEEP));
    assert!(of(&row).functions.len() > DEEP);
    // WITH in WITH, each of which names itself.
    let depth = DEEP / 100;
    let with = "WITH a AS (".repeat(depth) + "SELECT 1 FROM a" + &") SELECT 1 FROM a".repeat(depth);
    assert_eq!(of(&with).cte_names.len(), depth);
}
