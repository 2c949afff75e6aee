//! Escapes text of peers in log lines, so that a peer cannot forge a log line.
//!
//! Log lines have names of databases and users, parameters of start-up packets and errors of servers in them. Without
//! escaping, a line feed in such a text would begin a new log line, and an escape character would control the terminal
//! that shows it.

use std::fmt::{self, Write};
use std::io;

use tracing::field::Field;
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FormatFields, MakeWriter};

/// The longest field of a line; a longer one is cut. Trunkline's own lines and the errors of servers are shorter.
const FIELD_BYTES_MAX: usize = 2_000;

/// Whether a character has an effect beyond its own place: it ends a line, controls the terminal or turns text around.
fn must_be_escaped(c: char) -> bool {
    c.is_control()
        // Ends of lines and paragraphs, and characters that change the direction of the text.
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The position where `text` must be cut to keep at most `bytes_max` bytes and no part of a character.
pub(super) fn cut_position(text: &str, bytes_max: usize) -> usize {
    if text.len() <= bytes_max {
        return text.len();
    }
    (0..=bytes_max).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Writes `text`, and escapes characters as Rust does (`\n`, `\u{1b}`) where [`must_be_escaped`] says so.
pub fn write_escaped(out: &mut impl Write, text: &str) -> fmt::Result {
    let mut rest = text;
    while let Some(at) = rest.find(must_be_escaped) {
        let (plain, behind) = rest.split_at(at);
        out.write_str(plain)?;
        let mut characters = behind.chars();
        if let Some(active) = characters.next() {
            write!(out, "{}", active.escape_default())?;
        }
        rest = characters.as_str();
    }
    out.write_str(rest)
}

/// A writer of JSON lines. serde escapes the characters that JSON requires to be escaped. This writer escapes the others of
/// [`must_be_escaped`], which some readers take for the end of a line. They occur only inside JSON strings.
pub(super) struct JsonLines<W>(pub(super) W);

impl<'w, W: MakeWriter<'w>> MakeWriter<'w> for JsonLines<W> {
    type Writer = JsonLines<W::Writer>;

    fn make_writer(&'w self) -> Self::Writer {
        JsonLines(self.0.make_writer())
    }
}

impl<W: io::Write> io::Write for JsonLines<W> {
    /// Called with a whole line.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let line = String::from_utf8_lossy(bytes);
        let is_unescaped = |c: char| must_be_escaped(c) && !c.is_ascii();
        if line.contains(is_unescaped) {
            let mut escaped = String::with_capacity(line.len() + 16);
            for c in line.chars() {
                match is_unescaped(c) {
                    // Writing into a String cannot fail. Four digits are enough for each of these characters.
                    true => drop(write!(escaped, "\\u{:04x}", u32::from(c))),
                    false => escaped.push(c),
                }
            }
            self.0.write_all(escaped.as_bytes())?;
        } else {
            self.0.write_all(bytes)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Writes the fields of a text line, escaped and cut. It leaves out `kind`, which only the [limiter](super::throttle) reads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EscapedFields;

impl<'w> FormatFields<'w> for EscapedFields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'w>, fields: R) -> fmt::Result {
        let mut visitor = Visitor { writer, first: true, result: Ok(()) };
        fields.record(&mut visitor);
        visitor.result
    }
}

struct Visitor<'w> {
    writer: Writer<'w>,
    first: bool,
    result: fmt::Result,
}

impl Visitor<'_> {
    fn write(&mut self, field: &Field, value: &dyn fmt::Debug) -> fmt::Result {
        if field.name() == super::KIND {
            return Ok(());
        }
        if !std::mem::take(&mut self.first) {
            self.writer.write_char(' ')?;
        }
        if field.name() != "message" {
            write!(self.writer, "{}=", field.name())?;
        }
        let text = format!("{value:?}");
        let end = cut_position(&text, FIELD_BYTES_MAX);
        write_escaped(&mut self.writer, &text[..end])?;
        match text.len() - end {
            0 => Ok(()),
            more => write!(self.writer, "... ({more} bytes more)"),
        }
    }
}

impl tracing::field::Visit for Visitor<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if self.result.is_ok() {
            self.result = self.write(field, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_cut_whole() {
        assert_eq!((cut_position("abc", 3), cut_position("abc", 2), cut_position("", 0)), (3, 2, 0));
        assert_eq!((cut_position("\u{20ac}\u{20ac}", 5), cut_position("\u{20ac}", 2)), (3, 0));
    }

    #[test]
    fn only_characters_with_an_effect_are_escaped() {
        let escaped = |text: &str| {
            let mut out = String::new();
            write_escaped(&mut out, text).expect("writing into a String");
            out
        };
        assert_eq!(escaped("a\nb\rc\u{1b}[2Jd\0"), r"a\nb\rc\u{1b}[2Jd\u{0}");
        assert_eq!(escaped("\u{85}\u{2028}\u{202e}x\u{9b}"), r"\u{85}\u{2028}\u{202e}x\u{9b}");
        for plain in ["", "caf\u{e9} \"quoted\" back\\slash 'x' \u{1f600}", "a=b"] {
            assert_eq!(escaped(plain), plain);
        }
    }
}
