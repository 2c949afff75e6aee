//! Compares trees.

use std::collections::HashSet;
use std::fmt;
use std::iter::zip;

use crate::ParsedSql;
use crate::node::{Fields, List, MultiAssignRef, Node, NodeTag, Value};

/// Compares nodes as PostgreSQL's `equal()` does: locations in the text do not count, and NULL equals only NULL. But
/// unlike there, the syntax of a function call or cast (`CoercionForm`) counts. Needs no more stack for a deeper
/// tree.
impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.difference(*other).is_none()
    }
}

/// Compares statement by statement, as nodes are compared.
impl PartialEq for ParsedSql {
    fn eq(&self, other: &Self) -> bool {
        self.root() == other.root()
    }
}

/// Compares element by element, as nodes are compared.
impl PartialEq for List<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.difference(*other).is_none()
    }
}

/// The first difference between two trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Difference {
    /// Different nodes, or lists of different lengths.
    Node(NodeTag, NodeTag),
    /// A different field in two nodes of this type.
    Field(NodeTag, &'static str),
}

impl fmt::Display for Difference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(one, other) if one == other => write!(out, "another {}", one.c_name()),
            Self::Node(one, other) => write!(out, "a {} in place of a {}", other.c_name(), one.c_name()),
            Self::Field(tag, field) => write!(out, "another {field} of a {}", tag.c_name()),
        }
    }
}

impl Node<'_> {
    /// The difference between this node and another; `None` if they are equal.
    pub(crate) fn difference(self, other: Node<'_>) -> Option<Difference> {
        Comparison { pairs: vec![(self, other)], rows: HashSet::new() }.run()
    }
}

impl List<'_> {
    /// The difference between this list and another; `None` if they are equal.
    pub(crate) fn difference(self, other: List<'_>) -> Option<Difference> {
        let mut comparison = Comparison { pairs: Vec::new(), rows: HashSet::new() };
        match comparison.lists(self, other) {
            true => comparison.run(),
            false => Some(Difference::Node(self.tag(), other.tag())),
        }
    }
}

struct Comparison<'a, 'b> {
    /// Pairs of nodes of both trees that must still be compared.
    pairs: Vec<(Node<'a>, Node<'b>)>,
    /// The addresses of rows in `(a, b, c) = row`. Each is compared only once, although every column has it.
    rows: HashSet<(*const (), *const ())>,
}

impl<'a, 'b> Comparison<'a, 'b> {
    fn run(mut self) -> Option<Difference> {
        while let Some((one, other)) = self.pairs.pop() {
            let difference = Difference::Node(one.tag(), other.tag());
            if one.tag() != other.tag() {
                return Some(difference);
            }
            match (one.as_list(), other.as_list()) {
                (Some(one), Some(other)) if !self.lists(one, other) => return Some(difference),
                (Some(_), Some(_)) => {}
                _ if self.is_compared_row(one, other) => {}
                _ => {
                    if let Some(field) = self.fields(one.fields(), other.fields()) {
                        return Some(Difference::Field(one.tag(), field));
                    }
                }
            }
        }
        None
    }

    /// Whether two nodes are columns of `(a, b, c) = row` whose rows were compared before, and that are otherwise
    /// equal.
    fn is_compared_row(&mut self, one: Node<'a>, other: Node<'b>) -> bool {
        let (Some(one), Some(other)) = (one.cast::<MultiAssignRef<'_>>(), other.cast::<MultiAssignRef<'_>>())
        else {
            return false;
        };
        let (Some(row), Some(other_row)) = (one.source(), other.source()) else { return false };
        let is_new = self.rows.insert((row.address(), other_row.address()));
        !is_new && one.colno() == other.colno() && one.ncolumns() == other.ncolumns()
    }

    /// Compares the fields of two nodes of one type, and adds the nodes below to the pairs. Returns the name of a
    /// field that differs.
    fn fields(&mut self, one: Fields<'a>, other: Fields<'b>) -> Option<&'static str> {
        zip(one, other)
            .find(|((info, one), (_, other))| !info.is_ignored_by_equal() && !self.values(*one, *other))
            .map(|((info, _), _)| info.name())
    }

    fn values(&mut self, one: Value<'a>, other: Value<'b>) -> bool {
        match (one, other) {
            (Value::Node(one) | Value::View(one), Value::Node(other) | Value::View(other)) => {
                self.nodes(one, other)
            }
            (Value::Inner(one), Value::Inner(other)) => self.fields(one, other).is_none(),
            (Value::List(one), Value::List(other)) => self.lists(one, other),
            (Value::Str(one), Value::Str(other)) => one == other,
            (Value::Bool(one), Value::Bool(other)) => one == other,
            (Value::Char(one), Value::Char(other)) => one == other,
            (Value::Int(one), Value::Int(other)) => one == other,
            (Value::UInt(one), Value::UInt(other)) => one == other,
            (Value::Float(one), Value::Float(other)) => one == other,
            (Value::Enum(one, _), Value::Enum(other, _)) => one == other,
            (Value::Location(_), Value::Location(_)) => true,
            (Value::Bitmapset(one), Value::Bitmapset(other)) => one.iter().eq(other.iter()),
            _ => false,
        }
    }

    fn nodes(&mut self, one: Option<Node<'a>>, other: Option<Node<'b>>) -> bool {
        match (one, other) {
            (Some(one), Some(other)) => {
                self.pairs.push((one, other));
                true
            }
            (None, None) => true,
            _ => false,
        }
    }

    fn lists(&mut self, one: List<'a>, other: List<'b>) -> bool {
        if one.len() != other.len() || one.tag() != other.tag() {
            return false;
        }
        match one.tag() {
            NodeTag::IntList => one.ints().eq(other.ints()),
            NodeTag::OidList => one.oids().eq(other.oids()),
            _ => zip(one, other).all(|(one, other)| self.nodes(one, other)),
        }
    }
}
