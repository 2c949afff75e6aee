//! SQL that is written from a tree must parse to the same tree.

use trunkline_parser::{DeparseOptions, parse};

use super::faithful::is_of;

/// Whether the text parses. An error says what is wrong with the written SQL.
pub(crate) fn check(sql: &str) -> Result<bool, String> {
    let Ok(tree) = parse(sql) else { return Ok(false) };
    let pretty = DeparseOptions { pretty: true, ..DeparseOptions::default() };
    let narrow = DeparseOptions { indent: 1, line_length_max: 10, commas_first: true, ..pretty.clone() };
    for options in [DeparseOptions::default(), pretty, narrow] {
        is_of(&tree, &tree.deparse_with(&options).map_err(|error| error.to_string())?)?;
    }
    Ok(true)
}
