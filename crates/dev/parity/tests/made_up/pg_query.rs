//! Compares pg_query's results for a text with ours: JSON and fingerprint, or an error.

use trunkline_parity::{oracle, same, same_value};
use trunkline_parser::parse;

/// Whether the text parses. An error says how pg_query's result differs.
pub(crate) fn check(sql: &str) -> Result<bool, String> {
    match (oracle::json(sql), parse(sql)) {
        (Ok(json), Ok(tree)) => {
            same(&json, &tree.to_json())?;
            let fingerprint = oracle::fingerprint(sql).map_err(|error| error.message)?;
            same(&fingerprint.1, &tree.fingerprint().to_string())?;
            Ok(true)
        }
        // Failed assertions of debug builds. Some fail for valid SQL.
        (Err(expected), _) if expected.message.starts_with("C assertion failed") => Ok(false),
        (Err(expected), Err(error)) => {
            same(&expected.message, error.message())?;
            same_value(&i64::from(expected.cursorpos), &i64::from(error.cursor()))?;
            Ok(false)
        }
        (expected, got) => Err(format!("{:?} became {:?}", expected.err(), got.err())),
    }
}
