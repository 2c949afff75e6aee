//! Columns compared with constants and parameters.

use super::value::Values;
use crate::node::*;

/// A column, and the values it is compared with. Only if all of them are constants or parameters; what is compared with
/// anything else is not here.
#[derive(Debug, Clone, Copy)]
pub struct Comparison<'a> {
    /// The column.
    pub column: Column<'a>,
    /// How it is compared.
    pub test: Test<'a>,
    /// Whether the column stands on the right: `1 < a` is the test `<` with this.
    pub is_reversed: bool,
    /// What it is compared with.
    pub values: Values<'a>,
    /// What follows for the rows of its level.
    pub holds: Holds,
    /// The level it stands in.
    pub level: u32,
    /// The place of the operator in the text, of a column that is given a value that one's; in bytes, -1 if unknown.
    pub location: i32,
}

/// A column as a text names it. It is one of a table of its level, or of a level above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column<'a> {
    /// The schema of the table that it is qualified with.
    pub schema: Option<&'a str>,
    /// The table or alias that it is qualified with. Of INSERT and UPDATE's SET none: it is their target's.
    pub relation: Option<&'a str>,
    /// The name; None of INSERT without a list of columns.
    pub name: Option<&'a str>,
    /// The column's place in the list of INSERT, from 0; without a list, its place among the table's columns.
    pub place: Option<u32>,
    /// Whether it is cast, as in `a::text = $1`: then it is the cast's result that is compared.
    pub is_cast: bool,
}

/// How a column is compared. An expression with an operator that may or may not be a test (`a + 1`) is here
/// only where a condition stands. Operators are those named without a schema or in `pg_catalog`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Test<'a> {
    /// An operator: `=`, `<>` (also for `!=`), `<`, `~~` (LIKE), `!~~*` (NOT ILIKE) and so on.
    Operator(&'a str),
    /// IN a list.
    In,
    /// NOT IN a list.
    NotIn,
    /// An operator with ANY element of an array.
    Any(&'a str),
    /// An operator with ALL elements of an array.
    All(&'a str),
    /// BETWEEN two values.
    Between,
    /// NOT BETWEEN.
    NotBetween,
    /// BETWEEN SYMMETRIC: the values in either order.
    BetweenSymmetric,
    /// NOT BETWEEN SYMMETRIC.
    NotBetweenSymmetric,
    /// IS DISTINCT FROM.
    Distinct,
    /// IS NOT DISTINCT FROM: equal, or both NULL.
    NotDistinct,
    /// IS NULL.
    Null,
    /// IS NOT NULL.
    NotNull,
    /// IS TRUE, IS NOT FALSE and their like.
    Boolean(BoolTestType),
    /// INSERT gives the column these values, a row each.
    Inserted,
    /// UPDATE sets the column to this value.
    Assigned,
}

/// What a comparison says of the rows of its level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// It holds for every row that the level reads, changes or inserts: a part of WHERE or of an inner join's ON that
    /// is joined to the rest by AND alone. Rows for which it does not hold make no difference.
    Always,
    /// It stands so in the ON of an outer join, or of a join on the side of one that may come out NULL. It restricts
    /// the rows of that side; rows of the other come out without a match.
    OuterJoin,
    /// It may or may not hold: below OR, NOT, CASE or a function, in a list of results, in HAVING, in MERGE.
    Maybe,
}

impl<'a> Column<'a> {
    /// The column that an expression is, casts taken off.
    pub(super) fn of(node: Node<'a>) -> Option<Self> {
        let mut inner = node;
        let mut is_cast = false;
        while let Some(cast) = inner.cast::<TypeCast<'a>>() {
            is_cast = true;
            inner = cast.arg()?;
        }
        let fields = inner.cast::<ColumnRef<'a>>()?.fields();
        // `t.*` is no column.
        let mut parts = fields.iter().rev().map(|field| Some(field?.cast::<StringNode<'a>>()?.sval()));
        let name = parts.next()??;
        Some(Self {
            schema: parts.clone().nth(1).flatten(),
            relation: parts.next().flatten(),
            name: Some(name),
            place: None,
            is_cast,
        })
    }

    /// A column of a statement's target.
    pub(super) fn of_target(name: Option<&'a str>, place: Option<u32>) -> Self {
        Self { schema: None, relation: None, name, place, is_cast: false }
    }
}
