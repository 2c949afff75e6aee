//! What a statement refers to: tables, columns compared with values, functions, parameters. For routing.
//!
//! One walk through the tree finds all of it. Names and nodes borrow the tree.
//!
//! A statement is looked at by its *levels*: each query in it, whether at the top, in FROM, in WITH, in an
//! expression, is one. Every table and every comparison belongs to a level, so that a router asks level by level: is
//! each table of it restricted by a comparison of it that always [`Holds`]?
//!
//! A text does not tell to which table of its level an unqualified column belongs, what else views, functions, rules,
//! triggers, foreign keys and policies read and write, or in which schema an unqualified name is found.
//!
//! ```
//! use trunkline_parser::references::{Holds, Test, ValueKind};
//!
//! let tree = trunkline_parser::parse(
//!     "WITH big AS (SELECT * FROM orders o WHERE o.customer = $1) DELETE FROM items i USING big WHERE i.id = big.id",
//! )?;
//! let references = tree.references();
//! let tables: Vec<_> = references.relations().iter().map(|found| (found.name, found.usage.is_written)).collect();
//! assert_eq!(tables, [("items", true), ("orders", false)]);
//!
//! let [comparison] = references.comparisons() else { panic!() };
//! assert_eq!((comparison.column.relation, comparison.column.name), (Some("o"), Some("customer")));
//! assert_eq!((comparison.test, comparison.holds), (Test::Operator("="), Holds::Always));
//! assert_eq!(comparison.values.iter().next().map(|value| value.kind), Some(ValueKind::Parameter(1)));
//! # Ok::<(), trunkline_parser::ParseError>(())
//! ```

mod call;
mod comparison;
mod condition;
mod frame;
mod named;
mod relation;
mod scope;
#[cfg(test)]
mod tests;
mod value;
mod walk;

pub use call::{Call, Parameter};
pub use comparison::{Column, Comparison, Holds, Test};
pub use relation::{Relation, Usage};
pub use value::{Value, ValueKind, Values};

use crate::ParsedSql;
use crate::node::Node;

/// A statement, or a query within one.
#[derive(Debug, Clone, Copy)]
pub struct Level<'a> {
    /// The statement: SELECT, INSERT, UPDATE, DELETE, MERGE, or one of the utility statements at the top.
    pub statement: Node<'a>,
    /// The level that it stands in; None at the top.
    pub above: Option<u32>,
    /// Whether no query stands around it: it is the statement itself, or the query of EXPLAIN, COPY, DECLARE and their
    /// like.
    pub is_outermost: bool,
}

/// What a text refers to, in the order of the walk: fields in C's order, so that FROM comes before WHERE and WITH.
#[derive(Debug, Clone, Default)]
pub struct References<'a> {
    levels: Vec<Level<'a>>,
    relations: Vec<Relation<'a>>,
    comparisons: Vec<Comparison<'a>>,
    calls: Vec<Call<'a>>,
    parameters: Vec<Parameter>,
}

impl<'a> References<'a> {
    /// The levels; a level's number is its place here. The first of each statement has nothing above it.
    #[must_use]
    pub fn levels(&self) -> &[Level<'a>] {
        &self.levels
    }

    /// Tables, views, sequences, indexes and whatever else is a relation, each as often as it is named. Names that WITH
    /// gives are none.
    #[must_use]
    pub fn relations(&self) -> &[Relation<'a>] {
        &self.relations
    }

    /// Columns compared with constants and parameters, given by INSERT, set by UPDATE.
    #[must_use]
    pub fn comparisons(&self) -> &[Comparison<'a>] {
        &self.comparisons
    }

    /// Functions called by name.
    #[must_use]
    pub fn calls(&self) -> &[Call<'a>] {
        &self.calls
    }

    /// Parameters, each as often as it stands in the text.
    #[must_use]
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The largest number of a parameter: Bind must bring this many at least. 0 without parameters.
    #[must_use]
    pub fn largest_parameter(&self) -> i32 {
        self.parameters.iter().map(|parameter| parameter.number).max().unwrap_or(0)
    }
}

impl ParsedSql {
    /// What all statements of the text refer to.
    #[must_use]
    pub fn references(&self) -> References<'_> {
        let mut references = References::default();
        for statement in self.root().nodes() {
            walk::collect(statement, &mut references);
        }
        references
    }
}

impl<'a> Node<'a> {
    /// What this statement, or any other part of a tree, refers to. Names that a WITH around it gives are taken for
    /// tables.
    #[must_use]
    pub fn references(self) -> References<'a> {
        let mut references = References::default();
        walk::collect(self, &mut references);
        references
    }
}
