//! `trunkline sql deparse`.

use std::io::Write;
use std::ops::Range;

use clap::Args;
use trunkline_parser::{DeparseOptions, comments_with, parse_with};

use super::failure::SqlFailure;
use super::source::{Source, Text};

/// The widest indentation. A wider one is refused as a mistake.
const INDENT_MAX: i64 = 64;
/// The longest line width. A longer one is refused as a mistake.
const WIDTH_MAX: i64 = 100_000;

/// `trunkline sql deparse`.
#[derive(Debug, Args)]
pub struct Deparse {
    #[command(flatten)]
    source: Source,

    /// Break lines and indent by clause
    #[arg(long)]
    pretty: bool,

    /// With --pretty: the number of spaces of an indentation [default: 4]
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
        let defaults = DeparseOptions::default();
        let given = |value: Option<u32>, default| value.map_or(default, |value| value as usize);
        DeparseOptions {
            pretty: self.pretty,
            indent: given(self.indent, defaults.indent),
            line_length_max: given(self.width, defaults.line_length_max),
            commas_first: self.commas_first,
            ..defaults
        }
    }
}

/// A statement of the text, with the comments before it and in it.
struct Piece {
    /// From the end of the previous statement (its semicolon is included here) to the end of this one.
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

/// The statements of the text. It parses the whole text, so that an error has its position in the whole text.
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

/// The text of one statement. Each statement is deparsed alone, because one tree of all would be written on one line.
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
            // Without a newline the semicolon would be part of the comment.
            written.push('\n');
        }
        written.push(';');
    }
    Ok(written)
}
