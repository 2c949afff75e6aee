//! `trunkline sql`: shows the results of the parser, for people and for scripts.

mod classify;
mod deparse;
mod failure;
mod fingerprint;
mod json;
mod place;
mod source;
mod tables;

use std::io::{self, BufWriter, Write};

use clap::{Args, Subcommand};
use serde::Serialize;
use trunkline_parser::{ParsedSql, parse_plpgsql, parse_with, scan_with, split_with_scanner_with};

use classify::Classify;
use deparse::Deparse;
pub(super) use failure::SqlFailure;
use fingerprint::Fingerprint;
use place::PlaceFinder;
use source::{Source, Text};
use tables::Tables;

/// `trunkline sql`.
#[derive(Debug, Args)]
#[command(after_help = SQL_HELP)]
pub struct Sql {
    /// What to do with the SQL.
    #[command(subcommand)]
    pub task: SqlTask,
}

const SQL_HELP: &str = "\
The SQL is an argument, a file (--file FILE), or standard input:
  trunkline sql parse \"SELECT 1\"
  trunkline sql deparse --pretty --keep-comments --file query.sql
  pg_dump --schema-only db | trunkline sql split

SQL that begins with a comment (--) looks like an option: put the argument -- before it.
Exit code: 0, 1 if the SQL is refused or cannot be read, 2 for wrong usage.";

/// The subcommands of `trunkline sql`.
#[derive(Debug, Subcommand)]
pub enum SqlTask {
    /// Print the parse tree as JSON, in the form of pg_query
    Parse(Parse),
    /// Print the SQL again, written from its tree: in one line, or on several lines with --pretty
    Deparse(Deparse),
    /// Print each statement's fingerprint, which is the same for statements that differ in literals only
    Fingerprint(Fingerprint),
    /// Print the SQL with parameters ($1) in place of its constants
    Normalize(Normalize),
    /// Print the tokens and comments as JSON, also of SQL that does not parse
    Scan(Scan),
    /// Print the text and the position of each statement, as JSON
    Split(Split),
    /// Print the class of each statement and what it touches, for poolers and routers, as JSON
    Classify(Classify),
    /// Print the tables of each statement and how it uses them, as JSON
    Tables(Tables),
}

/// `trunkline sql parse`.
#[derive(Debug, Args)]
pub struct Parse {
    #[command(flatten)]
    source: Source,

    /// Break lines and indent
    #[arg(long)]
    pretty: bool,

    /// Print the trees of the PL/pgSQL functions and DO blocks in the SQL instead
    #[arg(long, conflicts_with = "no_standard_strings")]
    plpgsql: bool,
}

/// `trunkline sql normalize`.
#[derive(Debug, Args)]
pub struct Normalize {
    #[command(flatten)]
    source: Source,

    /// Replace only the constants of utility statements, including passwords
    #[arg(long)]
    utility: bool,
}

/// `trunkline sql scan`.
#[derive(Debug, Args)]
pub struct Scan {
    #[command(flatten)]
    source: Source,

    /// Break lines and indent
    #[arg(long)]
    pretty: bool,
}

/// `trunkline sql split`.
#[derive(Debug, Args)]
pub struct Split {
    #[command(flatten)]
    source: Source,

    /// Split at semicolons outside of parentheses, without the grammar: works for SQL that does not parse, too
    #[arg(long)]
    scanner: bool,

    /// Break lines and indent
    #[arg(long)]
    pretty: bool,
}

/// Runs the subcommand.
pub(super) fn run(sql: &Sql, out: &mut dyn Write) -> Result<(), SqlFailure> {
    let mut out = BufWriter::new(out);
    let result = match &sql.task {
        SqlTask::Parse(arguments) => parse(arguments, &mut out),
        SqlTask::Deparse(arguments) => deparse::run(arguments, &mut out),
        SqlTask::Fingerprint(arguments) => fingerprint::run(arguments, &mut out),
        SqlTask::Normalize(arguments) => normalize(arguments, &mut out),
        SqlTask::Scan(arguments) => scan(arguments, &mut out),
        SqlTask::Split(arguments) => split(arguments, &mut out),
        SqlTask::Classify(arguments) => classify::run(arguments, &mut out),
        SqlTask::Tables(arguments) => tables::run(arguments, &mut out),
    };
    match result.and_then(|()| out.flush().map_err(SqlFailure::Output)) {
        // The reader has closed the pipe, as in `trunkline sql scan ... | head`.
        Err(SqlFailure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// The parse tree of a text.
fn tree(source: &Source, text: &Text) -> Result<ParsedSql, SqlFailure> {
    parse_with(&text.sql, source.options()).map_err(|error| SqlFailure::refused(text, &error))
}

fn parse(arguments: &Parse, out: &mut dyn Write) -> Result<(), SqlFailure> {
    let text = arguments.source.read()?;
    let json = if arguments.plpgsql {
        parse_plpgsql(&text.sql).map_err(|error| SqlFailure::refused(&text, &error))?
    } else {
        tree(&arguments.source, &text)?.to_json()
    };
    json::print(out, &json, arguments.pretty).map_err(SqlFailure::Output)
}

fn normalize(arguments: &Normalize, out: &mut dyn Write) -> Result<(), SqlFailure> {
    let text = arguments.source.read()?;
    let tree = tree(&arguments.source, &text)?;
    let options = arguments.source.options();
    let normal = if arguments.utility {
        tree.normalize_utility_with(&text.sql, options)
    } else {
        tree.normalize_with(&text.sql, options)
    };
    let end = if normal.is_empty() || normal.ends_with('\n') { "" } else { "\n" };
    write!(out, "{normal}{end}").map_err(SqlFailure::Output)
}

/// The output for one token.
#[derive(Serialize)]
struct TokenRow<'a> {
    start: u32,
    end: u32,
    token: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    keyword: Option<String>,
    text: &'a str,
}

fn scan(arguments: &Scan, out: &mut dyn Write) -> Result<(), SqlFailure> {
    let text = arguments.source.read()?;
    let tokens = scan_with(&text.sql, arguments.source.options())
        .map_err(|error| SqlFailure::refused(&text, &error))?;
    let rows = tokens.iter().map(|token| TokenRow {
        start: token.start,
        end: token.end,
        token: token.to_string(),
        keyword: token.keyword.map(|keyword| json::variant_name(keyword.kind)),
        text: text.sql.get(token.start as usize..token.end as usize).unwrap_or_default(),
    });
    json::print_array(out, rows, arguments.pretty).map_err(SqlFailure::Output)
}

/// The output for one statement.
#[derive(Serialize)]
struct StatementRow<'a> {
    #[serde(flatten)]
    place: place::Place,
    text: &'a str,
}

fn split(arguments: &Split, out: &mut dyn Write) -> Result<(), SqlFailure> {
    let text = arguments.source.read()?;
    let parts = if arguments.scanner {
        split_with_scanner_with(&text.sql, arguments.source.options())
            .map_err(|error| SqlFailure::refused(&text, &error))?
    } else {
        tree(&arguments.source, &text)?.split(&text.sql).collect()
    };
    let mut places = PlaceFinder::new(&text.sql);
    let rows = parts.into_iter().map(|part| StatementRow {
        place: places.place_of(&part),
        text: text.sql.get(part).unwrap_or_default(),
    });
    json::print_array(out, rows, arguments.pretty).map_err(SqlFailure::Output)
}
