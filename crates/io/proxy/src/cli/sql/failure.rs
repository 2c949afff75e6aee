//! Errors of `trunkline sql`, in the form of psql.

use std::fmt::{self, Write};
use std::io;
use std::string::FromUtf8Error;

use trunkline_parser::{DeparseError, ParseError, SqlState};

use super::place;
use super::source::Text;

/// Most characters of a message that are shown. PostgreSQL's message about an unterminated string quotes the whole rest of
/// the text.
const MESSAGE_CHARACTERS_MAX: usize = 1000;

/// Why a subcommand of `trunkline sql` failed.
#[derive(Debug)]
pub(in crate::cli) enum SqlFailure {
    /// The file or standard input cannot be read.
    Unreadable { name: String, cause: io::Error },
    /// The SQL is refused. These are the lines to show.
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
    /// The parser refuses the text.
    pub(super) fn refused(text: &Text, error: &ParseError) -> Self {
        let head = format!("{}: {}", error.sqlstate(), error.message());
        let mut lines = lines(&text.sql, text.file.as_deref(), &head, error.position());
        for (title, text) in
            [("DETAIL", error.detail()), ("HINT", error.hint()), ("CONTEXT", error.context())]
        {
            if let Some(text) = text {
                // Writing into a String cannot fail.
                let _ = write!(lines, "\n{title}:  {}", printable(text));
            }
        }
        Self::Refused(lines)
    }

    /// The tree of the statement at the byte `at` cannot be written as SQL.
    pub(super) fn unwritable(text: &Text, error: &DeparseError, at: usize) -> Self {
        Self::Refused(lines(&text.sql, text.file.as_deref(), &error.to_string(), Some(at)))
    }

    /// The text is not UTF-8. The message is PostgreSQL's.
    pub(super) fn not_utf8(error: &FromUtf8Error, file: Option<&str>) -> Self {
        let at = error.utf8_error().valid_up_to();
        let wrong = error.as_bytes().get(at..).unwrap_or_default();
        let mut head = format!(
            "{}: invalid byte sequence for encoding \"UTF8\":",
            SqlState::CHARACTER_NOT_IN_REPERTOIRE
        );
        for byte in wrong.iter().take(wrong.first().map_or(0, character_bytes)) {
            let _ = write!(head, " 0x{byte:02x}");
        }
        // The replacement changes nothing before the first wrong byte, so `at` is a position in the replaced text, too.
        let text = String::from_utf8_lossy(error.as_bytes());
        Self::Refused(lines(&text, file, &head, Some(at)))
    }
}

/// The length in bytes of a character that begins with this byte.
fn character_bytes(first: &u8) -> usize {
    match first {
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf7 => 4,
        _ => 1,
    }
}

/// The text `file:line: ERROR:  head`, and the line of the error with a caret.
fn lines(sql: &str, file: Option<&str>, head: &str, at: Option<usize>) -> String {
    let excerpt = at.map(|at| place::Excerpt::at(sql, at));
    let mut lines = String::new();
    if let Some(file) = file {
        let _ = match &excerpt {
            Some(excerpt) => write!(lines, "{file}:{}: ", excerpt.line),
            None => write!(lines, "{file}: "),
        };
    }
    let _ = write!(lines, "ERROR:  {}", printable(head));
    if let Some(excerpt) = excerpt {
        let _ = write!(lines, "\n{excerpt}");
    }
    lines
}

/// A message for a terminal: cut if it is very long, and without control characters.
fn printable(message: &str) -> String {
    let mut printable: String = message
        .chars()
        .take(MESSAGE_CHARACTERS_MAX)
        .map(|character| if matches!(character, '\n' | '\t') { character } else { place::visible(character) })
        .collect();
    if message.chars().nth(MESSAGE_CHARACTERS_MAX).is_some() {
        printable.push_str("...");
    }
    printable
}
