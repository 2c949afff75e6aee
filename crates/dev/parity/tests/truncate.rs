//! Compares truncated texts with those of libpg_query's C code.

use trunkline_parity::{compare, oracle, same};
use trunkline_parser::parse;

#[test]
fn truncated() {
    compare("truncate", |statement| {
        let Ok(tree) = parse(&statement.sql) else { return Ok(()) };
        // Statements that libpg_query writes differently or not at all are compared in the tests of deparse.
        let (expected, got) = (oracle::deparse(&statement.sql).ok(), tree.deparse().ok());
        let Some(whole) = got.filter(|got| expected.as_ref() == Some(got)) else { return Ok(()) };
        // Lengths at which everything, a part, or little is left out.
        for limit in [2, 40, whole.len() * 3 / 4] {
            match (oracle::truncate(&statement.sql, limit), tree.truncate(limit)) {
                (Ok(expected), Ok(got)) => same(&expected, &got).map_err(|it| format!("to {limit}: {it}"))?,
                (Err(_), Err(_)) => {}
                // libpg_query measures a condition inside a SELECT, where CURRENT OF is not possible.
                (Err(expected), Ok(_)) if expected.message.contains("unpermitted node type") => {}
                (Err(expected), Ok(_)) if expected.is_assertion() => {}
                (expected, got) => return Err(format!("expected {expected:?}\ngot      {got:?}")),
            }
        }
        Ok(())
    });
}
