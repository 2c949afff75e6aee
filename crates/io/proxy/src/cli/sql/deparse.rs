//! `trunkline sql deparse`.

use std::io::Write;
use std::ops::Range;

use clap::Args;
use trunkline_parser::{DeparseOptions, comments_with, parse_with};

use super::failure::SqlFailure;
use super::source::{Source, Text};

/// Wider indentations are refused as mistakes.
const INDENT_MAX: i64 = 64;
/// So are longer lines.
const WIDTH_MAX: i64 = 100_000;

/// `trunkline sql deparse`.
#[derive(Debug, Args)]
pub struct Deparse {
    #[command(flatten)]
    source: Source,

    /// Break lines and indent by clause
    #[arg(long)]
    pretty: bool,

    /// With --pretty: how many spaces an indentation has [default: 4]
    #[arg(long, value_name = "SPACES", requires = "pretty", value_parser = clap::value_parser!(u32).range(0..=INDENT_MAX))]
    indent: Option<u32>,

    /// With --pretty: break lists whose lines would be longer [default: 80]
    #[arg(long, value_name = "BYTES", requires = "pretty", value_parser = clap::value_parser!(u32).range(1..=WIDTH_MAX))]
    width: Option<u32>,

    /// With --pretty: a comma begins a line instead of ending one
    #[arg(long, requires = "pretty")]
    commas_first: bool,

    /// Put the comments back near where they stood
    #[arg(long)]
    keep_comments: bool,
}

impl Deparse {
    fn options(&self) -> DeparseOptions {
        let usual = DeparseOptions::default();
        let given = |value: Option<u32>, default| value.map_or(default, |value| value as usize);
        DeparseOptions {
            pretty: self.pretty,
            indent: given(self.indent, usual.indent),
            line_length_max: given(self.width, usual.line_length_max),
            commas_first: self.commas_first,
            ..usual
        }
    }
}

/// A statement of the text, with the comments before it and in it.
struct Piece {
    /// From the end of the statement before, whose semicolon begins it, to its own end.
    range: Range<usize>,
    /// Where the statement itself begins.
    start: usize,
    /// Whether it ends with a semicolon.
    is_closed: bool,
}

pub(super) fn run(arguments: &Deparse, out: &mut dyn Write) -> Result<(), SqlFailure> {
    let text = arguments.source.read()?;
    let options = arguments.options();
    let pieces = pieces(&arguments.source, &text)?;
    for piece in &pieces {
        let written = deparse(arguments, &text, piece, options.clone())?;
        writeln!(out, "{written}").map_err(SqlFailure::Output)?;
    }
    if arguments.keep_comments {
        let end = pieces.last().map_or(0, |piece| piece.range.end);
        let rest = text.sql.get(end..).unwrap_or_default();
        for comment in comments_with(rest, arguments.source.options())
            .map_err(|error| SqlFailure::refused(&text, &error))?
        {
            writeln!(out, "{}", comment.text).map_err(SqlFailure::Output)?;
        }
    }
    Ok(())
}

/// The statements. Every error of the text is found here, so that it is shown where it is.
fn pieces(source: &Source, text: &Text) -> Result<Vec<Piece>, SqlFailure> {
    let tree = super::tree(source, text)?;
    let mut from = 0;
    let pieces = tree.split(&text.sql).map(|part| Piece {
        range: std::mem::replace(&mut from, part.end)..part.end,
        start: part.start,
        is_closed: text.sql.as_bytes().get(part.end) == Some(&b';'),
    });
    Ok(pieces.collect())
}

/// A statement as it is printed, on lines of its own: the tree's text for several would have them in one.
fn deparse(
    arguments: &Deparse,
    text: &Text,
    piece: &Piece,
    mut options: DeparseOptions,
) -> Result<String, SqlFailure> {
    let sql = text.sql.get(piece.range.clone()).unwrap_or_default();
    let refused = |error| SqlFailure::refused(text, &error);
    if arguments.keep_comments {
        options.comments = comments_with(sql, arguments.source.options()).map_err(refused)?;
    }
    let tree = parse_with(sql, arguments.source.options()).map_err(refused)?;
    let mut written =
        tree.deparse_with(&options).map_err(|error| SqlFailure::unwritable(text, &error, piece.start))?;
    if piece.is_closed {
        let last = options.comments.last();
        if last.is_some_and(|comment| comment.text.starts_with("--") && written.ends_with(&comment.text)) {
            // Else the semicolon would be part of the comment.
            written.push('\n');
        }
        written.push(';');
    }
    Ok(written)
}
