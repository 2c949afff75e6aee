//! Compares normalized texts with libpg_query's.

use trunkline_parity::oracle::{self, Error};
use trunkline_parity::{compare, same};
use trunkline_parser::ParseError;

#[test]
fn normalize() {
    compare("normalize", |statement| {
        check(oracle::normalize(&statement.sql), trunkline_parser::normalize(&statement.sql))
    });
}

#[test]
fn normalize_utility() {
    compare("normalize_utility", |statement| {
        check(oracle::normalize_utility(&statement.sql), trunkline_parser::normalize_utility(&statement.sql))
    });
}

fn check(expected: Result<String, Error>, got: Result<String, ParseError>) -> Result<(), String> {
    match (expected, got) {
        (Ok(expected), Ok(got)) => same(&expected, &got),
        (Err(expected), Err(got)) => same(&expected.message, got.message()),
        (Err(expected), Ok(_)) if expected.is_assertion() => Ok(()),
        (expected, got) => Err(format!("expected {expected:?}\ngot      {got:?}")),
    }
}
