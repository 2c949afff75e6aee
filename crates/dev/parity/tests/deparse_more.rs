//! SQL from trees of statements that PostgreSQL's regression files do not have, in a list for each part of the deparser.
//!
//! A list has two arrays. `SAME`: our text is equal to libpg_query's, in one line and laid out. `KEPT`: libpg_query writes invalid
//! SQL or SQL of another tree, and our SQL has the same tree.

#[path = "deparse_more/expression.rs"]
mod expression;
#[path = "deparse_more/faithful.rs"]
mod faithful;
#[path = "deparse_more/objects.rs"]
mod objects;
#[path = "deparse_more/query.rs"]
mod query;
#[path = "deparse_more/table.rs"]
mod table;
#[path = "deparse_more/utility_more.rs"]
mod utility_more;

use faithful::is_of;
use trunkline_parity::{oracle, same};
use trunkline_parser::{DeparseOptions, ParsedSql, parse};

struct List {
    name: &'static str,
    same: &'static [&'static str],
    kept: &'static [&'static str],
}

const LISTS: &[List] = &[
    List { name: "expression", same: expression::SAME, kept: expression::KEPT },
    List { name: "objects", same: objects::SAME, kept: objects::KEPT },
    List { name: "query", same: query::SAME, kept: query::KEPT },
    List { name: "table", same: table::SAME, kept: table::KEPT },
    List { name: "utility_more", same: utility_more::SAME, kept: utility_more::KEPT },
];

fn both_layouts(tree: &ParsedSql) -> Result<(String, String), String> {
    let pretty = DeparseOptions { pretty: true, ..DeparseOptions::default() };
    let flat = tree.deparse().map_err(|error| error.to_string())?;
    Ok((flat, tree.deparse_with(&pretty).map_err(|error| error.to_string())?))
}

fn is_same(sql: &str) -> Result<(), String> {
    let tree = parse(sql).map_err(|error| error.to_string())?;
    let (flat, pretty) = both_layouts(&tree)?;
    same(&oracle::deparse(sql).map_err(|error| format!("libpg_query: {error}"))?, &flat)?;
    let options = oracle::DeparseOptions { pretty_print: true, ..oracle::DeparseOptions::default() };
    same(&oracle::deparse_opts(sql, &options).map_err(|error| error.to_string())?, &pretty)?;
    is_of(&tree, &flat).and_then(|()| is_of(&tree, &pretty))
}

fn is_kept(sql: &str) -> Result<(), String> {
    let tree = parse(sql).map_err(|error| error.to_string())?;
    if let Ok(theirs) = oracle::deparse(sql)
        && is_of(&tree, &theirs).is_ok()
    {
        return Err(format!("libpg_query keeps it too: {theirs}"));
    }
    let (flat, pretty) = both_layouts(&tree)?;
    is_of(&tree, &flat).and_then(|()| is_of(&tree, &pretty))
}

fn check(of: fn(&List) -> &'static [&'static str], check: fn(&str) -> Result<(), String>) {
    let mut failures = Vec::new();
    for list in LISTS {
        for sql in of(list) {
            if let Err(failure) = check(sql) {
                failures.push(format!("{}: {sql}\n  {}", list.name, failure.replace('\n', "\n  ")));
            }
        }
    }
    oracle::restore_standard_error();
    assert!(failures.is_empty(), "{} statements differ\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn statements_that_libpg_query_writes_correctly() {
    check(|list| list.same, is_same);
}

#[test]
fn statements_that_libpg_query_writes_wrongly() {
    check(|list| list.kept, is_kept);
}
