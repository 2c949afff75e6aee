//! Whether two trees mean the same statement.

use std::collections::HashSet;
use std::iter::zip;

use crate::ParsedSql;
use crate::node::{Fields, List, MultiAssignRef, Node, NodeTag, Value};

/// As PostgreSQL's `equal()`: places in the text are left out, NULL equals only NULL. Unlike it, the form a
/// function call or cast was written in (`CoercionForm`) counts. Takes stack for no depth of the tree.
impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        Comparison { pairs: vec![(*self, *other)], rows: HashSet::new() }.run()
    }
}

/// Statement by statement, as nodes are compared.
impl PartialEq for ParsedSql {
    fn eq(&self, other: &Self) -> bool {
        let mut comparison = Comparison { pairs: Vec::new(), rows: HashSet::new() };
        comparison.lists(self.root(), other.root()) && comparison.run()
    }
}

/// Element by element, as nodes are compared.
impl PartialEq for List<'_> {
    fn eq(&self, other: &Self) -> bool {
        let mut comparison = Comparison { pairs: Vec::new(), rows: HashSet::new() };
        comparison.lists(*self, *other) && comparison.run()
    }
}

struct Comparison<'a, 'b> {
    /// Nodes of both trees that are yet to be compared.
    pairs: Vec<(Node<'a>, Node<'b>)>,
    /// Rows that several columns are assigned from, by their addresses: to be compared once.
    rows: HashSet<(*const (), *const ())>,
}

impl<'a, 'b> Comparison<'a, 'b> {
    fn run(mut self) -> bool {
        while let Some((one, other)) = self.pairs.pop() {
            let same = one.tag() == other.tag()
                && match (one.as_list(), other.as_list()) {
                    (Some(one), Some(other)) => self.lists(one, other),
                    _ if self.is_compared_row(one, other) => true,
                    _ => self.fields(one.fields(), other.fields()),
                };
            if !same {
                return false;
            }
        }
        true
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

    /// Compares what two nodes of one type hold themselves, and notes the nodes below.
    fn fields(&mut self, one: Fields<'a>, other: Fields<'b>) -> bool {
        zip(one, other).all(|((info, one), (_, other))| info.is_ignored_by_equal() || self.values(one, other))
    }

    fn values(&mut self, one: Value<'a>, other: Value<'b>) -> bool {
        match (one, other) {
            (Value::Node(one) | Value::View(one), Value::Node(other) | Value::View(other)) => {
                self.nodes(one, other)
            }
            (Value::Inner(one), Value::Inner(other)) => self.fields(one, other),
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
