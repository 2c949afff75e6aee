//! Compares SQL from a tree with libpg_query's. The texts must be equal. If libpg_query's text does not parse to the same tree, ours
//! must.
//!
//! `TRUNKLINE_DEPARSE_ONLY=SelectStmt,CopyStmt` compares statements of these kinds only.

#[path = "deparse_more/faithful.rs"]
mod faithful;

use std::sync::atomic::{AtomicUsize, Ordering};

use faithful::is_of;
use trunkline_parity::{compare, oracle, same};
use trunkline_parser::node::RawStmt;
use trunkline_parser::{DeparseOptions, ParsedSql};

/// Whether the statement is of a wanted kind.
fn is_wanted(tree: &ParsedSql) -> bool {
    let Ok(only) = std::env::var("TRUNKLINE_DEPARSE_ONLY") else { return true };
    tree.root().nodes().all(|node| {
        let kind = node.cast::<RawStmt<'_>>().and_then(RawStmt::stmt).map(|node| format!("{:?}", node.tag()));
        kind.is_some_and(|kind| only.split(',').any(|wanted| wanted == kind))
    })
}

/// How many statements of the corpus libpg_query may write as SQL of another tree, or as invalid SQL. If there are more, our parser
/// or its comparison of trees is wrong.
const LOST_MAX: usize = 20;

/// Checks that our text parses to the same tree, and is equal to libpg_query's. If libpg_query's text does not parse to the same
/// tree, it is counted in `lost`.
fn check_text(tree: &ParsedSql, expected: &str, got: &str, lost: &AtomicUsize) -> Result<(), String> {
    is_of(tree, got)?;
    let difference = same(expected, got);
    if difference.is_err() && is_of(tree, expected).is_err() {
        lost.fetch_add(1, Ordering::Relaxed);
        return Ok(());
    }
    difference
}

#[test]
fn one_line() {
    let lost = AtomicUsize::new(0);
    compare("deparse in one line", |statement| {
        let Ok(tree) = trunkline_parser::parse(&statement.sql) else { return Ok(()) };
        if !is_wanted(&tree) {
            return Ok(());
        }
        let Ok(expected) = oracle::deparse(&statement.sql) else { return Ok(()) };
        let got = tree.deparse().map_err(|error| error.to_string())?;
        check_text(&tree, &expected, &got, &lost)
    });
    assert!(lost.into_inner() <= LOST_MAX);
}

#[test]
fn pretty() {
    let lost = AtomicUsize::new(0);
    compare("deparse laid out", |statement| {
        let Ok(tree) = trunkline_parser::parse(&statement.sql) else { return Ok(()) };
        if !is_wanted(&tree) {
            return Ok(());
        }
        let options = oracle::DeparseOptions { pretty_print: true, ..oracle::DeparseOptions::default() };
        let Ok(expected) = oracle::deparse_opts(&statement.sql, &options) else { return Ok(()) };
        let options = DeparseOptions { pretty: true, ..DeparseOptions::default() };
        let got = tree.deparse_with(&options).map_err(|error| error.to_string())?;
        check_text(&tree, &expected, &got, &lost)
    });
    assert!(lost.into_inner() <= LOST_MAX);
}
