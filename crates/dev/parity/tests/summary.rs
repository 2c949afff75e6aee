//! Compares summaries with pg_query's.

use std::collections::BTreeMap;

use trunkline_parity::{compare, oracle, same, same_value};
use trunkline_parser::summary;

#[test]
fn every_part() {
    compare("summary", |statement| match (oracle::summary(&statement.sql), summary(&statement.sql)) {
        (Ok(expected), Ok(got)) => {
            let tables = expected.tables.into_iter();
            let tables: Vec<_> =
                tables.map(|one| (one.name, one.schema_name, one.table_name, one.context)).collect();
            let got_tables = got.tables.into_iter();
            let got_tables: Vec<_> = got_tables
                .map(|one| (one.name, one.schema_name, one.table_name, one.context as i32))
                .collect();
            same_value(&tables, &got_tables)?;
            let aliases: BTreeMap<_, _> = expected.aliases.into_iter().collect();
            same_value(&aliases, &got.aliases)?;
            same_value(&expected.cte_names, &got.cte_names)?;
            let functions = expected.functions.into_iter();
            let functions: Vec<_> =
                functions.map(|one| (one.name, one.function_name, one.schema_name, one.context)).collect();
            let got_functions = got.functions.into_iter();
            let got_functions: Vec<_> = got_functions
                .map(|one| (one.name, one.function_name, one.schema_name, one.context as i32))
                .collect();
            same_value(&functions, &got_functions)?;
            let columns = expected.filter_columns.into_iter();
            let columns: Vec<_> = columns.map(|one| (one.schema_name, one.table_name, one.column)).collect();
            let got_columns = got.filter_columns.into_iter();
            let got_columns: Vec<_> =
                got_columns.map(|one| (one.schema_name, one.table_name, one.column)).collect();
            same_value(&columns, &got_columns)?;
            same_value(&expected.statement_types, &got.statement_types)
        }
        (Err(expected), Err(got)) => same(&expected.message, got.message()),
        (Err(expected), Ok(_)) if expected.is_assertion() => Ok(()),
        (expected, got) => Err(format!("expected {expected:?}\ngot      {got:?}")),
    });
}
