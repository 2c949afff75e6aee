//! SQL from a tree, against libpg_query's.
//!
//! `TRUNKLINE_DEPARSE_ONLY=SelectStmt,CopyStmt` looks at statements of these kinds only.

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

#[test]
fn one_line() {
    compare("deparse in one line", |statement| {
        let Ok(tree) = trunkline_parser::parse(&statement.sql) else { return Ok(()) };
        if !is_wanted(&tree) {
            return Ok(());
        }
        let Ok(expected) = oracle::deparse(&statement.sql) else { return Ok(()) };
        let got = tree.deparse().map_err(|error| error.to_string())?;
        same(&expected, &got)
    });
}

#[test]
fn pretty() {
    compare("deparse laid out", |statement| {
        let Ok(tree) = trunkline_parser::parse(&statement.sql) else { return Ok(()) };
        if !is_wanted(&tree) {
            return Ok(());
        }
        let options = oracle::DeparseOptions { pretty_print: true, ..oracle::DeparseOptions::default() };
        let Ok(expected) = oracle::deparse_opts(&statement.sql, &options) else { return Ok(()) };
        let options = DeparseOptions { pretty: true, ..DeparseOptions::default() };
        let got = tree.deparse_with(&options).map_err(|error| error.to_string())?;
        same(&expected, &got)
    });
}
