//! Writes trees as JSON, byte for byte as pg_query does.
//!
//! A node is `{"SelectStmt":{...}}`. If a field's type already says the type of the node, the node's name is left
//! out. Zero, false, the empty string and NULL are left out. Enums are always written, by the names of C's constants.
//! The values of constants, value nodes and lists have special forms.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;

use crate::ParsedSql;
use crate::node::{AConst, Fields, List, ListIter, MultiAssignRef, Node, NodeTag, Value, View};
use crate::options::REPEATED_BYTES_MAX;
use crate::raw::VERSION;

impl ParsedSql {
    /// The tree as JSON, in the form of `pg_query::parse`: `{"version":180006,"stmts":[...]}`.
    ///
    /// ```
    /// let tree = trunkline_parser::parse("LISTEN channel")?;
    /// let json = tree.to_json();
    /// assert!(json.ends_with(r#""stmts":[{"stmt":{"ListenStmt":{"conditionname":"channel"}}}]}"#));
    /// # Ok::<(), trunkline_parser::ParseError>(())
    /// ```
    pub fn to_json(&self) -> String {
        let mut out = String::with_capacity(self.bytes() / 2);
        self.write_json(&mut out);
        out
    }

    /// As [`to_json`](Self::to_json), but appends to `out`.
    pub fn write_json(&self, out: &mut String) {
        // Writing to a String cannot fail.
        let _ = write!(out, "{{\"version\":{VERSION},\"stmts\":[");
        let mut writer = Writer::new(out);
        for (place, statement) in self.root().iter().enumerate() {
            if place > 0 {
                writer.out.push(',');
            }
            match statement {
                Some(node) if node.tag() == NodeTag::RawStmt => {
                    writer.out.push('{');
                    writer.open(node, "}");
                }
                other => writer.node(other),
            }
            writer.run();
        }
        writer.out.push_str("]}");
    }
}

impl Node<'_> {
    /// This node and all nodes below it as JSON, in the form that [`ParsedSql::to_json`] has for a node.
    #[must_use]
    pub fn to_json(self) -> String {
        let mut out = String::new();
        let mut writer = Writer::new(&mut out);
        writer.node(Some(self));
        writer.run();
        out
    }
}

/// A node or list that is not written completely yet, and the text that closes it. These are kept on the heap, not on
/// the stack, because the author of the SQL decides how deep a tree is.
enum Unfinished<'a> {
    Fields {
        fields: Fields<'a>,
        close: &'static str,
    },
    List {
        elements: ListIter<'a>,
        first: bool,
        close: &'static str,
    },
    /// The row in `(a, b, c) = row`, which begins at `start`.
    Row {
        row: Node<'a>,
        start: usize,
    },
    /// The rest of a column after its row.
    Column {
        column: MultiAssignRef<'a>,
        close: &'static str,
    },
}

struct Writer<'a, 'o> {
    out: &'o mut String,
    stack: Vec<Unfinished<'a>>,
    /// Where each row in `(a, b, c) = row` was written, by the row's address. For further columns it is copied from
    /// there.
    rows: HashMap<*const (), Range<usize>>,
    /// The number of bytes that were copied for further columns.
    repeated_bytes: usize,
}

impl<'a, 'o> Writer<'a, 'o> {
    fn new(out: &'o mut String) -> Self {
        Self { out, stack: Vec::new(), rows: HashMap::new(), repeated_bytes: 0 }
    }

    /// Writes everything that is not complete.
    fn run(&mut self) {
        while let Some(top) = self.stack.last_mut() {
            match top {
                Unfinished::Fields { fields, close } => match fields.next() {
                    Some((info, value)) => self.field(info.quoted(), value),
                    None => {
                        let close = *close;
                        self.close(close);
                    }
                },
                Unfinished::List { elements, first, close } => match elements.next() {
                    Some(element) => {
                        if !std::mem::take(first) {
                            self.out.push(',');
                        }
                        match element {
                            Some(node) => self.node(Some(node)),
                            None => self.out.push_str("{}"),
                        }
                    }
                    None => {
                        let close = *close;
                        self.close(close);
                    }
                },
                Unfinished::Row { row, start } => {
                    let (row, start) = (row.address(), *start);
                    self.stack.pop();
                    self.rows.insert(row, start..self.out.len());
                    self.out.push(',');
                }
                Unfinished::Column { column, close } => {
                    let (column, close) = (*column, *close);
                    self.stack.pop();
                    self.column(column, close);
                }
            }
        }
    }

    /// A column of `(a, b, c) = row`. The row is written first.
    fn row_of_column(&mut self, column: MultiAssignRef<'a>, close: &'static str) {
        self.stack.push(Unfinished::Column { column, close });
        let Some(row) = column.source() else { return };
        match self.rows.get(&row.address()).cloned() {
            None => {
                self.out.push_str("\"source\":");
                self.stack.push(Unfinished::Row { row, start: self.out.len() });
                self.node(Some(row));
            }
            Some(written) if self.repeated_bytes + written.len() <= REPEATED_BYTES_MAX => {
                self.repeated_bytes += written.len();
                self.out.push_str("\"source\":");
                // The range begins and ends at nodes, so it does not cut a character.
                self.out.extend_from_within(written);
                self.out.push(',');
            }
            Some(_) => {}
        }
    }

    fn column(&mut self, column: MultiAssignRef<'a>, close: &'static str) {
        for (name, number) in [("\"colno\":", column.colno()), ("\"ncolumns\":", column.ncolumns())] {
            if number != 0 {
                self.number(name, number);
            }
        }
        if self.out.ends_with(',') {
            self.out.pop();
        }
        self.close_unstacked(close);
    }

    /// Closes the innermost node or list. Removes the comma after its last field, and adds one after it if it was a
    /// field.
    fn close(&mut self, close: &str) {
        self.stack.pop();
        if self.out.ends_with(',') {
            self.out.pop();
        }
        self.out.push_str(close);
        if matches!(self.stack.last(), Some(Unfinished::Fields { .. })) {
            self.out.push(',');
        }
    }

    /// Begins a node with its name; writes `null` for no node. [`run`](Self::run) writes the rest.
    fn node(&mut self, node: Option<Node<'a>>) {
        let Some(node) = node else {
            self.out.push_str("null");
            return;
        };
        self.out.push_str("{\"");
        self.out.push_str(node.tag().c_name());
        self.out.push_str("\":{");
        self.open(node, "}}");
    }

    /// Begins the content of a node's braces. `close` is written after it.
    fn open(&mut self, node: Node<'a>, close: &'static str) {
        match node.view() {
            View::List(list) => {
                self.out.push_str("\"items\":[");
                let close = if close == "}}" { "]}}" } else { "]}" };
                self.stack.push(Unfinished::List { elements: list.iter(), first: true, close });
            }
            View::IntList(list) | View::OidList(list) => {
                self.out.push_str("\"items\":");
                self.numbers(list);
                self.close_unstacked(close);
            }
            View::AConst(constant) => {
                self.constant(constant);
                self.close_unstacked(close);
            }
            View::MultiAssignRef(column) => self.row_of_column(column, close),
            view => {
                if self.value_node(view) {
                    self.close_unstacked(close);
                } else {
                    self.stack.push(Unfinished::Fields { fields: node.fields(), close });
                }
            }
        }
    }

    /// As [`close`](Self::close), for something that was never on the stack.
    fn close_unstacked(&mut self, close: &str) {
        self.out.push_str(close);
        if matches!(self.stack.last(), Some(Unfinished::Fields { .. })) {
            self.out.push(',');
        }
    }

    /// The field of a value node. Returns false if the node is not a value node. Only the number 0 is left out.
    fn value_node(&mut self, view: View<'a>) -> bool {
        match view {
            View::Integer(value) if value.ival() == 0 => {}
            View::Integer(value) => {
                self.out.push_str("\"ival\":");
                self.out.push_str(itoa::Buffer::new().format(value.ival()));
            }
            View::Boolean(value) => {
                self.out.push_str(if value.boolval() { "\"boolval\":true" } else { "\"boolval\":false" });
            }
            View::Float(value) => {
                self.out.push_str("\"fval\":");
                push_text(self.out, value.fval());
            }
            View::String(value) => {
                self.out.push_str("\"sval\":");
                push_text(self.out, value.sval());
            }
            View::BitString(value) => {
                self.out.push_str("\"bsval\":");
                push_text(self.out, value.bsval());
            }
            _ => return false,
        }
        true
    }

    /// A constant: its value under the name of the union's member, and always its location.
    fn constant(&mut self, constant: AConst<'a>) {
        match constant.val().map(Node::view) {
            None => self.out.push_str("\"isnull\":true"),
            Some(View::Boolean(value)) => {
                self.out.push_str("\"boolval\":{");
                self.out.push_str(if value.boolval() { "\"boolval\":true}" } else { "}" });
            }
            Some(view) => {
                self.out.push_str(match view {
                    View::Integer(_) => "\"ival\":{",
                    View::Float(_) => "\"fval\":{",
                    View::BitString(_) => "\"bsval\":{",
                    _ => "\"sval\":{",
                });
                self.value_node(view);
                self.out.push('}');
            }
        }
        self.out.push_str(",\"location\":");
        self.out.push_str(itoa::Buffer::new().format(constant.location()));
    }

    /// A field and a comma. Writes nothing if the field has the value that makeNode sets.
    fn field(&mut self, name: &str, value: Value<'a>) {
        match value {
            Value::Node(None) | Value::View(None) | Value::Str(None | Some("")) => {}
            Value::Bool(false) | Value::Char('\0') | Value::Int(0) | Value::UInt(0) | Value::Location(0) => {}
            Value::Node(Some(node)) => {
                self.name(name);
                self.node(Some(node));
            }
            Value::View(Some(node)) => {
                self.name(name);
                self.out.push('{');
                self.open(node, "}");
            }
            Value::Inner(fields) => {
                self.name(name);
                self.out.push('{');
                self.stack.push(Unfinished::Fields { fields, close: "}" });
            }
            Value::List(list) => self.list(name, list),
            Value::Str(Some(text)) => {
                self.name(name);
                push_text(self.out, text);
                self.out.push(',');
            }
            Value::Bool(true) => {
                self.name(name);
                self.out.push_str("true,");
            }
            Value::Char(letter) => {
                self.name(name);
                // An edited tree may have any character here.
                push_text(self.out, letter.encode_utf8(&mut [0; 4]));
                self.out.push(',');
            }
            Value::Int(value) => self.number(name, value),
            Value::UInt(value) => self.number(name, value),
            Value::Location(value) => self.number(name, value),
            // JSON has no infinity and no NaN.
            Value::Float(value) if !value.is_finite() => self.plain(name, "null"),
            Value::Float(value) => self.plain(name, format_args!("{value:.6}")),
            Value::Enum(value, info) => {
                // C's printf writes "(null)" for a number that is not a constant of the enum.
                self.constant_name(name, info.constant(value).unwrap_or("(null)"));
            }
            Value::Bitmapset(set) => self.bits(name, set.iter()),
        }
    }

    fn list(&mut self, name: &str, list: List<'a>) {
        if list.is_empty() {
            return;
        }
        self.name(name);
        if list.tag() == NodeTag::List {
            self.out.push('[');
            self.stack.push(Unfinished::List { elements: list.iter(), first: true, close: "]" });
        } else {
            self.numbers(list);
            self.out.push(',');
        }
    }

    /// A list of integers or object ids, in brackets.
    fn numbers(&mut self, list: List<'a>) {
        self.out.push('[');
        for number in list.ints().map(i64::from).chain(list.oids().map(i64::from)) {
            let _ = write!(self.out, "{number},");
        }
        if self.out.ends_with(',') {
            self.out.pop();
        }
        self.out.push(']');
    }

    /// pg_query searches for members after 0, so it never writes 0.
    fn bits(&mut self, name: &str, members: impl Iterator<Item = u32>) {
        let mut members = members.filter(|member| *member > 0).peekable();
        if members.peek().is_none() {
            return;
        }
        self.name(name);
        self.out.push('[');
        for member in members {
            let _ = write!(self.out, "{member},");
        }
        self.out.pop();
        self.out.push_str("],");
    }

    fn constant_name(&mut self, name: &str, constant: &str) {
        self.name(name);
        self.out.push('"');
        self.out.push_str(constant);
        self.out.push_str("\",");
    }

    fn number(&mut self, name: &str, value: impl itoa::Integer) {
        self.name(name);
        self.out.push_str(itoa::Buffer::new().format(value));
        self.out.push(',');
    }

    fn plain(&mut self, name: &str, value: impl std::fmt::Display) {
        self.name(name);
        let _ = write!(self.out, "{value},");
    }

    /// A field's name, given as in [`FieldInfo::quoted`](crate::node::FieldInfo).
    fn name(&mut self, name: &str) {
        self.out.push_str(name);
    }
}

/// A text in quotes. pg_query also escapes `<` and `>`, which JSON does not require.
pub(crate) fn push_text(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.bytes().position(must_escape) {
        let (plain, tail) = rest.split_at(at);
        out.push_str(plain);
        let mut letters = tail.chars();
        if let Some(letter) = letters.next() {
            escape(out, letter);
        }
        rest = letters.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

/// Whether a byte must be escaped. All such bytes are ASCII, so a text may be cut at them.
fn must_escape(byte: u8) -> bool {
    byte < b' ' || matches!(byte, b'"' | b'\\' | b'<' | b'>')
}

fn escape(out: &mut String, letter: char) {
    match letter {
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        other => {
            let _ = write!(out, "\\u{:04x}", u32::from(other));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::push_text;

    #[test]
    fn texts_are_escaped_as_pg_query_does() {
        let mut out = String::new();
        push_text(&mut out, "a<b>\"\\\n\u{1}ü/\u{7f}");
        assert_eq!(out, "\"a\\u003cb\\u003e\\\"\\\\\\n\\u0001ü/\u{7f}\"");
    }
}
