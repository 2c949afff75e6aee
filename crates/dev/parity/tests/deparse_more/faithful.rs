//! Checks that SQL parses to the tree from which it was written.

use trunkline_parity::same;
use trunkline_parser::{ParsedSql, parse};

/// Checks that a text parses to the same tree.
pub(crate) fn is_of(tree: &ParsedSql, text: &str) -> Result<(), String> {
    match parse(text) {
        Ok(again) if again == *tree => Ok(()),
        Ok(_) => Err(format!("another tree: {text}")),
        Err(error) => Err(format!("{error}: {text}")),
    }
}

/// Checks that our text is equal to libpg_query's. If libpg_query's text has another tree, ours must have the same tree.
#[allow(dead_code, reason = "not every test that has this file asks for it")]
pub(crate) fn same_or_better(tree: &ParsedSql, theirs: &str, ours: &str) -> Result<(), String> {
    let difference = same(theirs, ours);
    if difference.is_err() && is_of(tree, theirs).is_err() && is_of(tree, ours).is_ok() {
        return Ok(());
    }
    difference
}
