//! Text that others may have chosen, in a line of ours: it stays one line, and says nothing in our name.
//!
//! Names of databases and users, parameters of start-up packets and errors of servers stand in log lines. A line feed in one
//! would begin a line that looks like ours; an escape character would command the terminal that shows it.

use std::fmt::{self, Write};
use std::io;

use tracing::field::Field;
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FormatFields, MakeWriter};

/// Bytes of one field of a line, before it is cut: long enough for any line of ours, and for the errors of servers.
const FIELD_BYTES_MAX: usize = 2_000;

/// Whether a character does something else than to be seen where it stands.
fn is_active(c: char) -> bool {
    c.is_control()
        // Ends of lines and paragraphs; what turns the direction of the text around.
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Where `text` can be cut for at most `bytes_max` bytes to be left.
pub(super) fn end_within(text: &str, bytes_max: usize) -> usize {
    if text.len() <= bytes_max {
        return text.len();
    }
    (0..=bytes_max).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Writes `text` with all that is active in it escaped as in Rust: `\n`, `\u{1b}`.
pub fn write_escaped(out: &mut impl Write, text: &str) -> fmt::Result {
    let mut rest = text;
    while let Some(at) = rest.find(is_active) {
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

/// Where JSON goes: serde escapes what JSON must have escaped, this the rest, which some readers take for the end of a line.
/// Outside of strings there is none of it.
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
        let beyond = |c: char| is_active(c) && !c.is_ascii();
        if line.contains(beyond) {
            let mut escaped = String::with_capacity(line.len() + 16);
            for c in line.chars() {
                match beyond(c) {
                    // A String takes everything; none of these is beyond the first 65,536 characters.
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

/// The fields of a text line, escaped and cut. `kind` is for the [limiter](super::throttle) alone.
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
        let end = end_within(&text, FIELD_BYTES_MAX);
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
        assert_eq!((end_within("abc", 3), end_within("abc", 2), end_within("", 0)), (3, 2, 0));
        assert_eq!((end_within("\u{20ac}\u{20ac}", 5), end_within("\u{20ac}", 2)), (3, 0));
    }

    #[test]
    fn only_what_is_active_is_escaped() {
        let escaped = |text: &str| {
            let mut out = String::new();
            write_escaped(&mut out, text).expect("a String takes all");
            out
        };
        assert_eq!(escaped("a\nb\rc\u{1b}[2Jd\0"), r"a\nb\rc\u{1b}[2Jd\u{0}");
        assert_eq!(escaped("\u{85}\u{2028}\u{202e}x\u{9b}"), r"\u{85}\u{2028}\u{202e}x\u{9b}");
        for plain in ["", "caf\u{e9} \"quoted\" back\\slash 'x' \u{1f600}", "a=b"] {
            assert_eq!(escaped(plain), plain);
        }
    }
}
