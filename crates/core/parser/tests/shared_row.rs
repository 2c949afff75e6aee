//! `(a, b, c) = row`: the columns have one row node in common, so a tree is not a tree there. Code that treats each
//! column by itself would take the square of the text.

use trunkline_parser::node::MultiAssignRef;
use trunkline_parser::{REPEATED_BYTES_MAX, parse};

/// `count` columns assigned from a row of as many values.
fn update(count: usize) -> String {
    let columns: Vec<String> = (0..count).map(|column| format!("c{column}")).collect();
    format!("UPDATE t SET ({}) = ROW ({}1)", columns.join(", "), "1, ".repeat(count - 1))
}

#[test]
fn a_row_of_many_columns_is_gone_through_once() {
    let count = 3000;
    let text = update(count);
    let tree = parse(&text).expect("it parses");
    assert!(tree.nodes().count() < 10 * count);
    assert!(format!("{tree:?}").len() < 100 * text.len());
    assert!(tree == parse(&text).expect("it parses"));
    let statement = tree.root().nodes().next().expect("a statement");
    let copy = statement.to_fragment().expect("a copy");
    assert!(copy.node() == statement);
    assert_eq!(copy.node().deparse().ok(), tree.deparse().ok());
    let json = tree.to_json();
    assert!(json.len() < REPEATED_BYTES_MAX + 100 * text.len(), "{}", json.len());
    assert!(serde_json::from_str::<serde::de::IgnoredAny>(&json).is_ok());
    assert_eq!(tree.fingerprint(), parse(&text).expect("it parses").fingerprint());
    let mut tree = tree;
    let mut places = 0;
    assert_eq!(
        tree.edit_each(|_| {
            places += 1;
            Ok(())
        }),
        Ok(())
    );
    assert!(places < 10 * count);
}

/// A row of few columns stands below each of them, as pg_query has it, however long the text before it is.
#[test]
fn the_bound_is_of_what_is_repeated() {
    let long = format!("SELECT '{}'; ", "x".repeat(2 * REPEATED_BYTES_MAX));
    let json = parse(&(long + &update(3))).expect("it parses").to_json();
    assert_eq!(json.matches("\"source\":").count(), 3);
}

/// Rows in rows: each level would double what is written.
#[test]
fn rows_within_rows_are_not_doubled_for_each_level() {
    let mut text = "SELECT 1".to_owned();
    for level in 0..40 {
        text = format!("WITH c{level} AS (UPDATE t SET (a, b) = ({text}) RETURNING 1) SELECT 2");
    }
    let tree = parse(&text).expect("it parses");
    assert!(tree.to_json().len() < REPEATED_BYTES_MAX + 100 * text.len());
    assert_eq!(tree.fingerprint(), parse(&text).expect("it parses").fingerprint());
    assert!(tree.summary().is_ok());
    assert!(tree.truncate(100).is_ok());
    assert!(format!("{tree:?}").len() < 100 * text.len());
}

#[test]
fn a_copy_has_its_row_in_common_too() {
    let tree = parse(&update(3)).expect("it parses");
    let copy = tree.root().nodes().next().expect("a statement").to_fragment().expect("a copy");
    let mut rows = Vec::new();
    let mut waiting = vec![copy.node()];
    while let Some(node) = waiting.pop() {
        rows.extend(
            node.cast::<MultiAssignRef<'_>>().and_then(MultiAssignRef::source).map(|row| row.address()),
        );
        waiting.extend(node.children().map(|child| child.node));
    }
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| *row == rows[0]));
}
