//! PL/pgSQL, against pg_query's.

use trunkline_parity::{compare, oracle, same, same_value};
use trunkline_parser::parse_plpgsql;

#[test]
fn functions() {
    compare("plpgsql", |statement| match (oracle::plpgsql(&statement.sql), parse_plpgsql(&statement.sql)) {
        (Ok(expected), Ok(got)) => same(&expected, &got),
        (Err(expected), Err(got)) => {
            same(&expected.message, got.message())?;
            same_value(&expected.context.as_deref(), &got.context())?;
            same_value(&expected.cursorpos, &i32::try_from(got.cursor()).unwrap_or(-1))
        }
        (Err(expected), Ok(_)) if expected.is_assertion() => Ok(()),
        (expected, got) => Err(format!("expected {expected:?}\ngot      {got:?}")),
    });
}
