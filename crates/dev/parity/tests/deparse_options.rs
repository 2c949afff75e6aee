//! Compares SQL from a tree with libpg_query's, in layouts other than the default ones.

#[path = "deparse_more/faithful.rs"]
mod faithful;

use faithful::same_or_better;
use trunkline_parity::{Statement, compare, oracle};
use trunkline_parser::{DeparseOptions, parse};

/// One of so many statements is written in each layout.
const EVERY: u32 = 2;

/// One of the layouts, for a statement.
fn layout(statement: &Statement) -> DeparseOptions {
    let pretty = DeparseOptions { pretty: true, ..DeparseOptions::default() };
    match statement.line / EVERY % 6 {
        0 => DeparseOptions { indent: 2, ..pretty },
        1 => DeparseOptions { line_length_max: 20, ..pretty },
        2 => DeparseOptions { line_length_max: 300, indent: 1, ..pretty },
        3 => DeparseOptions { commas_first: true, ..pretty },
        4 => DeparseOptions {
            commas_first: true,
            trailing_newline: true,
            indent: 8,
            line_length_max: 40,
            ..pretty
        },
        // In one line these options have no effect.
        _ => {
            DeparseOptions { pretty: false, commas_first: true, trailing_newline: true, indent: 8, ..pretty }
        }
    }
}

fn check_written(sql: &str, options: &DeparseOptions) -> Result<(), String> {
    let Ok(tree) = parse(sql) else { return Ok(()) };
    let number = |size: usize| i32::try_from(size).unwrap_or(i32::MAX);
    let theirs = oracle::DeparseOptions {
        comments: Vec::new(),
        pretty_print: options.pretty,
        indent_size: number(options.indent),
        max_line_length: number(options.line_length_max),
        trailing_newline: options.trailing_newline,
        // libpg_query then also writes spaces before commas in one line, and ours does not.
        commas_start_of_line: options.commas_first && options.pretty,
    };
    let Ok(expected) = oracle::deparse_opts(sql, &theirs) else { return Ok(()) };
    same_or_better(&tree, &expected, &tree.deparse_with(options).map_err(|error| error.to_string())?)
}

#[test]
fn single_statements_are_equal() {
    compare("layouts of a statement", |statement| match statement.line % EVERY {
        0 => check_written(&statement.sql, &layout(statement)),
        _ => Ok(()),
    });
}

#[test]
fn texts_of_several_statements_are_equal() {
    compare("layouts of several statements", |statement| match statement.line % EVERY {
        0 => Ok(()),
        _ => {
            let one = statement.sql.trim_end().trim_end_matches(';');
            check_written(&format!("{one}\n;SELECT a, b FROM c;;{one}"), &layout(statement))
        }
    });
}
