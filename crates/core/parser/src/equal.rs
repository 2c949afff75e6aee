//! Whether two trees mean the same statement.

use std::collections::HashSet;
use std::fmt;
use std::iter::zip;

use crate::ParsedSql;
use crate::node::{Fields, List, MultiAssignRef, Node, NodeTag, Value};

/// As PostgreSQL's `equal()`: places in the text are left out, NULL equals only NULL. Unlike it, the form a
/// function call or cast was written in (`CoercionForm`) counts. Takes stack for no depth of the tree.
impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.difference(*other).is_none()
    }
}

/// Statement by statement, as nodes are compared.
impl PartialEq for ParsedSql {
    fn eq(&self, other: &Self) -> bool {
        self.root() == other.root()
    }
}

/// Element by element, as nodes are compared.
impl PartialEq for List<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.difference(*other).is_none()
    }
}

/// The first thing that is not the same in two trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Difference {
    /// Another node, or a list of another length.
    Node(NodeTag, NodeTag),
    /// A field of two nodes of this type.
    Field(NodeTag, &'static str),
}

impl fmt::Display for Difference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(one, other) if one == other => write!(out, "another {}", one.c_name()),
            Self::Node(one, other) => write!(out, "a {} in the place of a {}", other.c_name(), one.c_name()),
            Self::Field(tag, field) => write!(out, "another {field} of a {}", tag.c_name()),
        }
    }
}

impl Node<'_> {
    /// What is not the same in this node and another; None if they are equal.
    pub(crate) fn difference(self, other: Node<'_>) -> Option<Difference> {
        Comparison { pairs: vec![(self, other)], rows: HashSet::new() }.run()
    }
}

impl List<'_> {
    /// What is not the same in this list and another; None if they are equal.
    pub(crate) fn difference(self, other: List<'_>) -> Option<Difference> {
        let mut comparison = Comparison { pairs: Vec::new(), rows: HashSet::new() };
        match comparison.lists(self, other) {
            true => comparison.run(),
            false => Some(Difference::Node(self.tag(), other.tag())),
        }
    }
}

struct Comparison<'a, 'b> {
    /// Nodes of both trees that are yet to be compared.
    pairs: Vec<(Node<'a>, Node<'b>)>,
    /// Rows that several columns are assigned from, by their addresses: to be compared once.
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

    /// Whether two nodes are columns that differ in nothing from such whose rows were compared.
    fn is_compared_row(&mut self, one: Node<'a>, other: Node<'b>) -> bool {
        let (Some(one), Some(other)) = (one.cast::<MultiAssignRef<'_>>(), other.cast::<MultiAssignRef<'_>>())
        else {
            return false;
        };
        let (Some(row), Some(other_row)) = (one.source(), other.source()) else { return false };
        let is_new = self.rows.insert((row.address(), other_row.address()));
        !is_new && one.colno() == other.colno() && one.ncolumns() == other.ncolumns()
    }

    /// Compares what two nodes of one type hold themselves, and notes the nodes below. The name of a field that is not
    /// the same.
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
