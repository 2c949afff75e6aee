//! Shows trees to people: with C's names and values, but without fields that are empty, false or zero.

use std::fmt::{self, Write as _};

use crate::ParsedSql;
use crate::node::{Fields, List, ListIter, Node, NodeTag, Value, View};

/// Below this depth `{:#?}` does not indent further, so that the text of a deep tree stays linear in the tree.
const INDENT_MAX: usize = 40;

impl fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut writer = Writer { pretty: f.alternate(), out: f, stack: Vec::new() };
        writer.node(*self)?;
        writer.run()
    }
}

impl fmt::Debug for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut writer = Writer { pretty: f.alternate(), out: f, stack: Vec::new() };
        writer.list(*self)?;
        writer.run()
    }
}

impl fmt::Debug for ParsedSql {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root().fmt(f)
    }
}

/// A node or list that is not written completely yet. These are kept on the heap, not on the stack, because the
/// author of the SQL decides how deep a tree is.
enum Unfinished<'a> {
    Node { fields: Fields<'a>, empty: bool },
    List { elements: ListIter<'a>, empty: bool },
}

struct Writer<'a, 'f, 'b> {
    pretty: bool,
    out: &'f mut fmt::Formatter<'b>,
    stack: Vec<Unfinished<'a>>,
}

impl<'a> Writer<'a, '_, '_> {
    fn run(&mut self) -> fmt::Result {
        while let Some(top) = self.stack.last_mut() {
            match top {
                Unfinished::Node { fields, empty } => match fields.next() {
                    Some((_, value)) if is_default(&value) => {}
                    Some((info, value)) => {
                        let first = std::mem::take(empty);
                        self.separate(first)?;
                        write!(self.out, "{}: ", info.name())?;
                        self.value(value)?;
                    }
                    None => {
                        let empty = *empty;
                        self.close(empty, " }")?;
                    }
                },
                Unfinished::List { elements, empty } => match elements.next() {
                    Some(element) => {
                        let first = std::mem::take(empty);
                        self.separate_element(first)?;
                        match element {
                            Some(node) => self.node(node)?,
                            None => self.out.write_str("NULL")?,
                        }
                    }
                    None => {
                        let empty = *empty;
                        self.close(empty, "]")?;
                    }
                },
            }
        }
        Ok(())
    }

    fn indent(&mut self, depth: usize) -> fmt::Result {
        write!(self.out, "\n{:width$}", "", width = 2 * depth.min(INDENT_MAX))
    }

    fn separate(&mut self, first: bool) -> fmt::Result {
        if !first {
            self.out.write_char(',')?;
        }
        if self.pretty { self.indent(self.stack.len()) } else { self.out.write_char(' ') }
    }

    fn separate_element(&mut self, first: bool) -> fmt::Result {
        if first && !self.pretty { Ok(()) } else { self.separate(first) }
    }

    fn close(&mut self, empty: bool, bracket: &str) -> fmt::Result {
        self.stack.pop();
        if empty {
            return self.out.write_str(bracket.trim_start());
        }
        if self.pretty {
            self.indent(self.stack.len())?;
            return self.out.write_str(bracket.trim_start());
        }
        self.out.write_str(bracket)
    }

    fn node(&mut self, node: Node<'a>) -> fmt::Result {
        match node.view() {
            View::Integer(value) => write!(self.out, "{}", value.ival()),
            View::Float(value) => self.out.write_str(value.fval()),
            View::Boolean(value) => write!(self.out, "{}", value.boolval()),
            View::String(value) => write!(self.out, "{:?}", value.sval()),
            View::BitString(value) => write!(self.out, "bits {:?}", value.bsval()),
            View::List(list) | View::IntList(list) | View::OidList(list) => self.list(list),
            // The row is shown only with the first of its columns.
            View::MultiAssignRef(column) if column.colno() > 1 => {
                write!(
                    self.out,
                    "MultiAssignRef {{ colno: {}, ncolumns: {} }}",
                    column.colno(),
                    column.ncolumns()
                )
            }
            _ => {
                write!(self.out, "{} {{", node.tag().c_name())?;
                self.stack.push(Unfinished::Node { fields: node.fields(), empty: true });
                Ok(())
            }
        }
    }

    fn list(&mut self, list: List<'a>) -> fmt::Result {
        match list.tag() {
            NodeTag::IntList => write!(self.out, "{:?}", Plain(list.ints())),
            NodeTag::OidList => write!(self.out, "{:?}", Plain(list.oids())),
            _ => {
                self.out.write_char('[')?;
                self.stack.push(Unfinished::List { elements: list.iter(), empty: true });
                Ok(())
            }
        }
    }

    fn value(&mut self, value: Value<'a>) -> fmt::Result {
        match value {
            Value::Node(Some(node)) | Value::View(Some(node)) => self.node(node),
            Value::Node(None) | Value::View(None) | Value::Str(None) => self.out.write_str("NULL"),
            Value::Inner(fields) => {
                self.out.write_char('{')?;
                self.stack.push(Unfinished::Node { fields, empty: true });
                Ok(())
            }
            Value::List(list) => self.list(list),
            Value::Str(Some(text)) => write!(self.out, "{text:?}"),
            Value::Bool(value) => write!(self.out, "{value}"),
            Value::Char(value) => write!(self.out, "{value:?}"),
            Value::Int(value) => write!(self.out, "{value}"),
            Value::UInt(value) => write!(self.out, "{value}"),
            Value::Float(value) => write!(self.out, "{value}"),
            Value::Location(value) => write!(self.out, "{value}"),
            Value::Enum(value, info) => match info.constant(value) {
                Some(name) => self.out.write_str(name),
                None => write!(self.out, "{value}"),
            },
            Value::Bitmapset(set) => write!(self.out, "{:?}", set.iter().collect::<Vec<_>>()),
        }
    }
}

/// Shows numbers in brackets.
struct Plain<I>(I);

impl<I: Iterator<Item: fmt::Debug> + Clone> fmt::Debug for Plain<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.clone()).finish()
    }
}

/// Whether a value is the one that C's makeNode sets, which tells a reader nothing.
fn is_default(value: &Value<'_>) -> bool {
    match value {
        Value::Node(node) | Value::View(node) => node.is_none(),
        Value::Inner(_) => false,
        Value::List(list) => list.is_empty(),
        Value::Str(text) => text.is_none(),
        Value::Bool(value) => !value,
        Value::Char(value) => *value == '\0',
        Value::Int(value) => *value == 0,
        Value::UInt(value) => *value == 0,
        Value::Float(value) => *value == 0.0,
        Value::Enum(value, _) => *value == 0,
        Value::Location(value) => *value < 0,
        Value::Bitmapset(set) => set.is_empty(),
    }
}
