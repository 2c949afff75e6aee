//! pg_raw_parse: libpg_query's tree read in place.

use trunkline_bench_parser::{Function, contend};

const FUNCTIONS: &[Function] = &[
    ("parse", |text| Some(Box::new(move || pg_raw_parse::parse(text).map_or(0, |tree| tree.len())))),
    ("deparse", |text| {
        let tree = pg_raw_parse::parse(text).ok()?;
        Some(Box::new(move || pg_raw_parse::deparse_stmts(tree.iter()).map_or(0, |text| text.len())))
    }),
];

fn main() {
    contend(FUNCTIONS);
}
