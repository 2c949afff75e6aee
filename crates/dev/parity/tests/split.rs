//! Compares the places of statements with pg_query's.

use std::ops::Range;

use trunkline_parity::corpus::{Statement, corpus};
use trunkline_parity::oracle::Result as Expected;
use trunkline_parity::{compare, oracle, same, same_value};
use trunkline_parser::{ParseError, split_with_parser, split_with_scanner};

/// The number of statements in a text.
const STATEMENTS: usize = 7;

#[test]
fn with_parser() {
    compare("split_with_parser", |statement| {
        check(oracle::split_with_parser(&statement.sql), split_with_parser(&statement.sql))
    });
}

#[test]
fn with_scanner() {
    compare("split_with_scanner", |statement| {
        check(oracle::split_with_scanner(&statement.sql), split_with_scanner(&statement.sql))
    });
}

/// Texts of several statements, with different separators between them.
#[test]
fn several_statements() {
    let separators = [";", ";\n", " ; ;", "; /* ; */ ", "; -- ;\n", ";)", ";("];
    let texts: Vec<_> = corpus()
        .chunks(STATEMENTS)
        .map(|statements| {
            let parts = statements.iter().zip(separators);
            let sql = parts.map(|(statement, separator)| statement.sql.clone() + separator).collect();
            let first = &statements[0];
            Statement { file: first.file.clone(), line: first.line, sql }
        })
        .collect();
    trunkline_parity::compare_in("several statements", &texts, |statement| {
        check(oracle::split_with_parser(&statement.sql), split_with_parser(&statement.sql))?;
        check(oracle::split_with_scanner(&statement.sql), split_with_scanner(&statement.sql))
    });
}

fn check(
    expected: Expected<Vec<(usize, usize)>>,
    got: Result<Vec<Range<usize>>, ParseError>,
) -> Result<(), String> {
    match (expected, got) {
        (Ok(expected), Ok(got)) => {
            let got: Vec<_> = got.into_iter().map(|range| (range.start, range.len())).collect();
            same_value(&expected, &got)
        }
        (Err(expected), Err(got)) => same(&expected.message, got.message()),
        (expected, got) => Err(format!("expected {expected:?}\ngot      {got:?}")),
    }
}
