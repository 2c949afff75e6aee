//! SQL that says what its tree says.

use trunkline_parity::same;
use trunkline_parser::{ParsedSql, parse};

/// That a text parses to the same tree.
pub(crate) fn is_of(tree: &ParsedSql, text: &str) -> Result<(), String> {
    match parse(text) {
        Ok(again) if again == *tree => Ok(()),
        Ok(_) => Err(format!("another tree: {text}")),
        Err(error) => Err(format!("{error}: {text}")),
    }
}

/// That our text is libpg_query's; where libpg_query's is of another tree, that ours is of this one.
#[allow(dead_code, reason = "not every test that has this file asks for it")]
pub(crate) fn same_or_better(tree: &ParsedSql, theirs: &str, ours: &str) -> Result<(), String> {
    let difference = same(theirs, ours);
    if difference.is_err() && is_of(tree, theirs).is_err() && is_of(tree, ours).is_ok() {
        return Ok(());
    }
    difference
}
