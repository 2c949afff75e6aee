//! sqlparser: a grammar of its own, in Rust.

use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Tokenizer;
use trunkline_bench_parser::{Function, contend};

const FUNCTIONS: &[Function] = &[
    ("parse", |text| {
        Parser::parse_sql(&PostgreSqlDialect {}, text).ok()?;
        Some(Box::new(move || Parser::parse_sql(&PostgreSqlDialect {}, text).map_or(0, |tree| tree.len())))
    }),
    ("deparse", |text| {
        let tree = Parser::parse_sql(&PostgreSqlDialect {}, text).ok()?;
        Some(Box::new(move || tree.iter().map(|statement| statement.to_string().len()).sum()))
    }),
    ("scan", |text| {
        Some(Box::new(move || {
            Tokenizer::new(&PostgreSqlDialect {}, text).tokenize().map_or(0, |tokens| tokens.len())
        }))
    }),
];

fn main() {
    contend(FUNCTIONS);
}
