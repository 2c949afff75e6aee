//! SQL from a tree, against libpg_query's: the same text, but where libpg_query's is not SQL of that tree. There ours must
//! be.
//!
//! `TRUNKLINE_DEPARSE_ONLY=SelectStmt,CopyStmt` looks at statements of these kinds only.

#[path = "deparse_more/faithful.rs"]
mod faithful;

use std::sync::atomic::{AtomicUsize, Ordering};

use faithful::is_of;
use trunkline_parity::{compare, oracle, same};
use trunkline_parser::node::RawStmt;
use trunkline_parser::{DeparseOptions, ParsedSql};

/// Whether the statement is of a kind that was asked for.
fn is_wanted(tree: &ParsedSql) -> bool {
    let Ok(only) = std::env::var("TRUNKLINE_DEPARSE_ONLY") else { return true };
    tree.root().nodes().all(|node| {
        let kind = node.cast::<RawStmt<'_>>().and_then(RawStmt::stmt).map(|node| format!("{:?}", node.tag()));
        kind.is_some_and(|kind| only.split(',').any(|wanted| wanted == kind))
    })
}

/// How many statements of the corpus libpg_query may write as SQL of another tree, or as no SQL. More would mean that our
/// parser, or its comparison of trees, is at fault.
const LOST_MAX: usize = 20;

/// That our text is SQL of the tree, and libpg_query's, but where that is not: `lost` counts these.
fn same_or_kept(tree: &ParsedSql, expected: &str, got: &str, lost: &AtomicUsize) -> Result<(), String> {
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
        same_or_kept(&tree, &expected, &got, &lost)
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
        same_or_kept(&tree, &expected, &got, &lost)
    });
    assert!(lost.into_inner() <= LOST_MAX);
}
