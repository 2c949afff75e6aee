//! Prints JSON.

use std::fmt::Debug;
use std::io::{self, Write};

use serde::Serialize;

/// The number of spaces of an indentation.
const INDENT: usize = 2;
/// The deepest level that gets a deeper indentation. Without this bound, a tree of 100,000 levels would take gigabytes of
/// spaces.
const INDENTED_LEVELS_MAX: usize = 64;
/// How many bytes of JSON are indented at once.
const CHUNK_BYTES: usize = 1 << 16;

/// Prints JSON text and a newline.
pub(super) fn print(out: &mut dyn Write, json: &str, pretty: bool) -> io::Result<()> {
    if pretty {
        Indenter::new(out).write_all(json.as_bytes())?;
    } else {
        out.write_all(json.as_bytes())?;
    }
    out.write_all(b"\n")
}

/// Prints an array with one element on each line, or fully indented if `pretty`.
pub(super) fn print_array<T: Serialize>(
    out: &mut dyn Write,
    elements: impl Iterator<Item = T>,
    pretty: bool,
) -> io::Result<()> {
    if pretty {
        write_array(&mut Indenter::new(out), elements, "", "")?;
    } else {
        write_array(out, elements, "\n", "\n")?;
    }
    out.write_all(b"\n")
}

fn write_array<T: Serialize>(
    out: &mut dyn Write,
    elements: impl Iterator<Item = T>,
    before_each: &str,
    before_end: &str,
) -> io::Result<()> {
    let mut separator = "[";
    for element in elements {
        write!(out, "{separator}{before_each}")?;
        serde_json::to_writer(&mut *out, &element)?;
        separator = ",";
    }
    if separator == "[" { out.write_all(b"[]") } else { write!(out, "{before_end}]") }
}

/// The name in JSON of an enum variant of the parser: `CommitAndChain` becomes `commit_and_chain`.
pub(super) fn variant_name(variant: impl Debug) -> String {
    let mut name = String::new();
    for character in format!("{variant:?}").chars() {
        if character.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(character.to_ascii_lowercase());
    }
    name
}

/// Adds line breaks and indentation to JSON without blanks. It does not recurse, because the author of the SQL decides how
/// deep the tree is.
struct Indenter<'o> {
    out: &'o mut dyn Write,
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
    /// Whether the object or list that was opened last is still empty.
    is_empty: bool,
}

impl<'o> Indenter<'o> {
    fn new(out: &'o mut dyn Write) -> Self {
        Self { out, depth: 0, is_in_string: false, is_escaped: false, is_empty: false }
    }

    fn byte(&mut self, byte: u8, indented: &mut Vec<u8>) {
        if self.is_in_string {
            self.is_in_string = self.is_escaped || byte != b'"';
            self.is_escaped = !self.is_escaped && byte == b'\\';
            indented.push(byte);
            return;
        }
        let is_end = matches!(byte, b'}' | b']');
        if is_end {
            self.depth = self.depth.saturating_sub(1);
        }
        // The two brackets of an empty object or list stay together.
        if std::mem::take(&mut self.is_empty) != is_end {
            self.newline(indented);
        }
        indented.push(byte);
        match byte {
            b'"' => self.is_in_string = true,
            b'{' | b'[' => {
                self.depth += 1;
                self.is_empty = true;
            }
            b',' => self.newline(indented),
            b':' => indented.push(b' '),
            _ => {}
        }
    }

    fn newline(&self, indented: &mut Vec<u8>) {
        indented.push(b'\n');
        indented.resize(indented.len() + INDENT * self.depth.min(INDENTED_LEVELS_MAX), b' ');
    }
}

impl Write for Indenter<'_> {
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        let chunk = json.get(..CHUNK_BYTES).unwrap_or(json);
        let mut indented = Vec::with_capacity(chunk.len() * 2);
        chunk.iter().for_each(|byte| self.byte(*byte, &mut indented));
        self.out.write_all(&indented)?;
        Ok(chunk.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indented(json: &str) -> String {
        let mut out = Vec::new();
        print(&mut out, json, true).expect("a Vec takes all");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn levels_are_indented_and_strings_are_unchanged() {
        let json = r#"{"a":[1,{"b":"x,{[\"\\"},[],{}],"c":null}"#;
        let expected = "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"x,{[\\\"\\\\\"\n    },\n    [],\n    {}\n  ],\n  \"c\": null\n}\n";
        assert_eq!(indented(json), expected);
        assert_eq!(indented("[]"), "[]\n");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&indented(json)).ok(),
            serde_json::from_str(json).ok()
        );
    }

    #[test]
    fn the_indentation_of_a_deep_document_is_bounded() {
        let deep = 100_000;
        let json = format!("{}{}", "[".repeat(deep), "]".repeat(deep));
        assert!(indented(&json).len() < json.len() * (2 + INDENT * INDENTED_LEVELS_MAX));
    }

    #[test]
    fn arrays_have_one_element_on_each_line() {
        for (elements, pretty, expected) in [
            (&[1, 2][..], false, "[\n1,\n2\n]\n"),
            (&[1, 2], true, "[\n  1,\n  2\n]\n"),
            (&[], false, "[]\n"),
            (&[], true, "[]\n"),
        ] {
            let mut out = Vec::new();
            print_array(&mut out, elements.iter(), pretty).expect("a Vec takes all");
            assert_eq!(out, expected.as_bytes());
        }
    }

    #[test]
    fn variant_names_are_in_snake_case() {
        use trunkline_parser::classify::TransactionControl;
        assert_eq!(variant_name(TransactionControl::CommitAndChain), "commit_and_chain");
    }
}
