//! Compares tokens with pg_query's.

use trunkline_parity::{compare, oracle, same, same_value};
use trunkline_parser::scan;

#[test]
fn tokens() {
    compare("scan", |statement| match (oracle::scan(&statement.sql), scan(&statement.sql)) {
        (Ok(expected), Ok(got)) => {
            let expected: Vec<_> = expected
                .iter()
                .map(|token| (token.start, token.end, token.token, token.keyword_kind, token.name.to_owned()))
                .collect();
            let got: Vec<_> = got
                .iter()
                .map(|token| {
                    let kind = token.keyword.map_or(0, |keyword| keyword.kind as i32);
                    (
                        token.start as usize,
                        token.end as usize,
                        i32::from(token.number),
                        kind,
                        token.to_string(),
                    )
                })
                .collect();
            same_value(&expected, &got)
        }
        (Err(expected), Err(got)) => {
            same(&expected.message, got.message())?;
            same_value(&expected.cursorpos, &i32::try_from(got.cursor()).unwrap_or(-1))
        }
        (expected, got) => Err(format!("expected {expected:?}\ngot      {got:?}")),
    });
}
