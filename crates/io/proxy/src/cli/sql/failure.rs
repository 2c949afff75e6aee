//! What went wrong, as psql shows it.

use std::fmt::{self, Write};
use std::io;
use std::string::FromUtf8Error;

use trunkline_parser::{DeparseError, ParseError, SqlState};

use super::place;
use super::source::Text;

/// At most this many characters of a message are shown: PostgreSQL quotes an unterminated string to the end of the text.
const MESSAGE_CHARACTERS_MAX: usize = 1000;

/// Why a subcommand of `trunkline sql` failed.
#[derive(Debug)]
pub(in crate::cli) enum SqlFailure {
    /// The file or standard input cannot be read.
    Unreadable { name: String, cause: io::Error },
    /// The SQL is refused: the lines to show.
    Refused(String),
    /// The result cannot be written.
    Output(io::Error),
}

impl fmt::Display for SqlFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { name, cause } => write!(f, "cannot read {name}: {cause}"),
            Self::Refused(lines) => f.write_str(lines),
            Self::Output(cause) => write!(f, "cannot write: {cause}"),
        }
    }
}

impl SqlFailure {
    /// What the parser refuses.
    pub(super) fn refused(text: &Text, error: &ParseError) -> Self {
        let head = format!("{}: {}", error.sqlstate(), error.message());
        let mut lines = lines(&text.sql, text.file.as_deref(), &head, error.position());
        for (title, said) in
            [("DETAIL", error.detail()), ("HINT", error.hint()), ("CONTEXT", error.context())]
        {
            if let Some(said) = said {
                // Writing into a String cannot fail.
                let _ = write!(lines, "\n{title}:  {}", shown(said));
            }
        }
        Self::Refused(lines)
    }

    /// A statement, at a byte of the text, whose tree has no SQL.
    pub(super) fn unwritable(text: &Text, error: &DeparseError, at: usize) -> Self {
        Self::Refused(lines(&text.sql, text.file.as_deref(), &error.to_string(), Some(at)))
    }

    /// Bytes that are not UTF-8, in the words of PostgreSQL.
    pub(super) fn not_utf8(error: &FromUtf8Error, file: Option<&str>) -> Self {
        let at = error.utf8_error().valid_up_to();
        let wrong = error.as_bytes().get(at..).unwrap_or_default();
        let mut head = format!(
            "{}: invalid byte sequence for encoding \"UTF8\":",
            SqlState::CHARACTER_NOT_IN_REPERTOIRE
        );
        for byte in wrong.iter().take(wrong.first().map_or(0, announced)) {
            let _ = write!(head, " 0x{byte:02x}");
        }
        // What is before the first wrong byte is as long in the replaced text.
        let text = String::from_utf8_lossy(error.as_bytes());
        Self::Refused(lines(&text, file, &head, Some(at)))
    }
}

/// How many bytes a character has that begins with this one.
fn announced(first: &u8) -> usize {
    match first {
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf7 => 4,
        _ => 1,
    }
}

/// `file:line: ERROR:  head`, and the line with a caret.
fn lines(sql: &str, file: Option<&str>, head: &str, at: Option<usize>) -> String {
    let spot = at.map(|at| place::Spot::of(sql, at));
    let mut lines = String::new();
    if let Some(file) = file {
        let _ = match &spot {
            Some(spot) => write!(lines, "{file}:{}: ", spot.line),
            None => write!(lines, "{file}: "),
        };
    }
    let _ = write!(lines, "ERROR:  {}", shown(head));
    if let Some(spot) = spot {
        let _ = write!(lines, "\n{spot}");
    }
    lines
}

/// A message as a terminal may have it: cut where it has no end, and without what would steer the terminal.
fn shown(message: &str) -> String {
    let mut shown: String = message
        .chars()
        .take(MESSAGE_CHARACTERS_MAX)
        .map(|character| if matches!(character, '\n' | '\t') { character } else { place::visible(character) })
        .collect();
    if message.chars().nth(MESSAGE_CHARACTERS_MAX).is_some() {
        shown.push_str("...");
    }
    shown
}
