//! Compares with pg_query which statements are utility statements.

use trunkline_parity::{compare, oracle, same, same_value};
use trunkline_parser::is_utility;

#[test]
fn each_statement() {
    compare("is_utility", |statement| {
        match (oracle::is_utility(&statement.sql), is_utility(&statement.sql)) {
            (Ok(expected), Ok(got)) => same_value(&expected, &got),
            (Err(expected), Err(got)) => same(&expected.message, got.message()),
            (expected, got) => Err(format!("expected {expected:?}\ngot      {got:?}")),
        }
    });
}
