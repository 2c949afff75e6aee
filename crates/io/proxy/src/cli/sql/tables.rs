//! `trunkline sql tables`.

use std::io::Write;

use clap::Args;
use serde::Serialize;
use trunkline_parser::node::LockClauseStrength;
use trunkline_parser::references::Relation;

use super::failure::SqlFailure;
use super::json;
use super::source::Source;

/// `trunkline sql tables`.
#[derive(Debug, Args)]
pub struct Tables {
    #[command(flatten)]
    source: Source,

    /// Break lines and indent
    #[arg(long)]
    pretty: bool,
}

/// The output for one use of a table, view or other relation.
#[derive(Serialize)]
struct Row<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    catalog: Option<&'a str>,
    schema: Option<&'a str>,
    name: &'a str,
    alias: Option<&'a str>,
    read: bool,
    written: bool,
    locked: bool,
    defined: bool,
    /// The strength of a row lock: the words after FOR.
    #[serde(skip_serializing_if = "Option::is_none")]
    lock: Option<&'static str>,
    /// Whether the use is inside a definition, which does not run now: the query of a view, the body of a function.
    in_definition: bool,
    /// The number of the statement, from 0.
    statement: usize,
    /// The position of the name, in bytes.
    start: Option<usize>,
}

impl<'a> Row<'a> {
    fn of(relation: &Relation<'a>, statement: usize) -> Self {
        let usage = relation.usage;
        Self {
            catalog: relation.catalog,
            schema: relation.schema,
            name: relation.name,
            alias: relation.alias,
            read: usage.is_read,
            written: usage.is_written,
            locked: usage.is_locked,
            defined: usage.is_defined,
            lock: relation.lock.and_then(lock_name),
            in_definition: relation.is_in_definition,
            statement,
            start: usize::try_from(relation.location).ok(),
        }
    }
}

fn lock_name(lock: LockClauseStrength) -> Option<&'static str> {
    match lock {
        LockClauseStrength::LcsNone => None,
        LockClauseStrength::LcsForkeyshare => Some("key share"),
        LockClauseStrength::LcsForshare => Some("share"),
        LockClauseStrength::LcsFornokeyupdate => Some("no key update"),
        LockClauseStrength::LcsForupdate => Some("update"),
    }
}

pub(super) fn run(arguments: &Tables, out: &mut dyn Write) -> Result<(), SqlFailure> {
    let text = arguments.source.read()?;
    let tree = super::tree(&arguments.source, &text)?;
    let rows = tree.root().nodes().enumerate().flat_map(|(number, statement)| {
        let references = statement.references();
        references.relations().iter().map(|relation| Row::of(relation, number)).collect::<Vec<_>>()
    });
    json::print_array(out, rows, arguments.pretty).map_err(SqlFailure::Output)
}
