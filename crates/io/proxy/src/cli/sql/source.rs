//! The source of the SQL: an argument, a file or standard input.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::path::PathBuf;

use clap::Args;
use trunkline_parser::{ParseOptions, TEXT_BYTES_MAX};

use super::failure::SqlFailure;

/// Some editors write this mark at the beginning of a file. psql skips it, too.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The options that say where the SQL comes from, and how to parse its strings.
#[derive(Args)]
pub(super) struct Source {
    /// The SQL; standard input if it is left out, or -
    #[arg(value_name = "SQL", conflicts_with = "file")]
    sql: Option<OsString>,

    /// Read the SQL from a file; - is standard input
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,

    /// Read '...' as with standard_conforming_strings off: backslashes escape
    #[arg(long)]
    pub(super) no_standard_strings: bool,
}

/// Written by hand, because SQL may hold passwords.
impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("sql", &self.sql.as_ref().map(|_| "***"))
            .field("file", &self.file)
            .field("no_standard_strings", &self.no_standard_strings)
            .finish()
    }
}

/// The SQL and the name of its source for errors.
pub(super) struct Text {
    pub(super) sql: String,
    /// The file's name; `None` for an argument and for standard input.
    pub(super) file: Option<String>,
}

impl Source {
    /// The options for the parser.
    pub(super) fn options(&self) -> ParseOptions {
        ParseOptions { standard_conforming_strings: !self.no_standard_strings, ..ParseOptions::default() }
    }

    /// Reads the whole SQL text.
    pub(super) fn read(&self) -> Result<Text, SqlFailure> {
        match (&self.sql, &self.file) {
            (Some(sql), _) if sql != "-" => text(sql.as_encoded_bytes().to_vec(), None),
            (None, Some(path)) if path.as_os_str() != "-" => {
                let name = path.display().to_string();
                match File::open(path).and_then(read_bounded) {
                    Ok(bytes) => text(bytes, Some(name)),
                    Err(cause) => Err(SqlFailure::Unreadable { name, cause }),
                }
            }
            _ => {
                say_that_input_is_read();
                let name = "standard input".to_owned();
                let bytes = read_bounded(io::stdin().lock())
                    .map_err(|cause| SqlFailure::Unreadable { name, cause })?;
                text(bytes, None)
            }
        }
    }
}

/// Tells a person at a terminal why nothing happens.
fn say_that_input_is_read() {
    if io::stdin().is_terminal() {
        // If standard error is closed, nobody can be told.
        let _ = writeln!(io::stderr(), "reading SQL from the terminal; Ctrl-D ends it");
    }
}

/// Reads to the end, but at most one byte more than the parser accepts, because some files never end. The parser refuses
/// such a text.
fn read_bounded(from: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(TEXT_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn text(bytes: Vec<u8>, file: Option<String>) -> Result<Text, SqlFailure> {
    match String::from_utf8(bytes) {
        Ok(mut sql) => {
            if sql.starts_with(BYTE_ORDER_MARK) {
                sql.drain(..BYTE_ORDER_MARK.len());
            }
            Ok(Text { sql, file })
        }
        Err(error) => Err(SqlFailure::not_utf8(&error, file.as_deref())),
    }
}
