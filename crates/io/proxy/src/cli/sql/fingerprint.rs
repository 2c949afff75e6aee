//! `trunkline sql fingerprint`.

use std::io::Write;

use clap::Args;
use serde::Serialize;
use trunkline_parser::FingerprintOptions;

use super::failure::SqlFailure;
use super::json;
use super::place::{Place, PlaceFinder};
use super::source::Source;

/// `trunkline sql fingerprint`.
#[derive(Debug, Args)]
pub struct Fingerprint {
    #[command(flatten)]
    source: Source,

    /// Distinguish tables whose names differ in digits only (log_202401, log_202402)
    #[arg(long)]
    full_relation_names: bool,

    /// Distinguish tables by their names even if they have aliases
    #[arg(long)]
    ignore_aliases: bool,

    /// Distinguish tables of queries by their schemas too
    #[arg(long)]
    include_schemas: bool,

    /// Print JSON, with the text and the position of each statement
    #[arg(long)]
    json: bool,

    /// With --json: break lines and indent
    #[arg(long, requires = "json")]
    pretty: bool,
}

#[derive(Serialize)]
struct Row<'a> {
    fingerprint: String,
    #[serde(flatten)]
    place: Place,
    text: &'a str,
}

pub(super) fn run(arguments: &Fingerprint, out: &mut dyn Write) -> Result<(), SqlFailure> {
    let text = arguments.source.read()?;
    let tree = super::tree(&arguments.source, &text)?;
    let options = FingerprintOptions {
        full_relation_names: arguments.full_relation_names,
        ignore_aliases: arguments.ignore_aliases,
        include_schemas: arguments.include_schemas,
    };
    let mut fingerprints = tree.root().nodes().map(|statement| statement.fingerprint(options));
    if !arguments.json {
        return fingerprints
            .try_for_each(|fingerprint| writeln!(out, "{fingerprint}"))
            .map_err(SqlFailure::Output);
    }
    let mut places = PlaceFinder::new(&text.sql);
    let rows = fingerprints.zip(tree.split(&text.sql)).map(|(fingerprint, part)| Row {
        fingerprint: fingerprint.to_string(),
        place: places.place_of(&part),
        text: text.sql.get(part).unwrap_or_default(),
    });
    json::print_array(out, rows, arguments.pretty).map_err(SqlFailure::Output)
}
