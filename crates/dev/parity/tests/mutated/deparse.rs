//! What parses is written so that it parses to the same tree.

use trunkline_parser::{DeparseOptions, parse};

/// Whether the text parses, or how it was written wrong.
pub(crate) fn check(sql: &str) -> Result<bool, String> {
    let Ok(tree) = parse(sql) else { return Ok(false) };
    let pretty = DeparseOptions { pretty: true, ..DeparseOptions::default() };
    let narrow = DeparseOptions { indent: 1, line_length_max: 10, commas_first: true, ..pretty.clone() };
    for options in [DeparseOptions::default(), pretty, narrow] {
        let written = tree.deparse_with(&options).map_err(|error| format!("{sql}\n  {error}"))?;
        match parse(&written) {
            Err(error) => return Err(format!("{sql}\n  is written {written}\n  {error}")),
            Ok(again) if again != tree => {
                return Err(format!("{sql}\n  is written {written}\n  another tree"));
            }
            Ok(_) => {}
        }
    }
    Ok(true)
}
