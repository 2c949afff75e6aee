//! The context of a node, for nodes that are written differently in different contexts.

/// What surrounds a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Context {
    /// Nothing that makes a difference.
    None,
    /// The table of an INSERT.
    InsertRelation,
    /// The table of an UPDATE, DELETE or MERGE.
    Changed,
    /// The query of an INSERT.
    InsertSelect,
    /// An operand of an operator in the grammar's `a_expr`.
    AExpr,
    /// An operand of an operator in the grammar's `b_expr`.
    BExpr,
    /// An option of CREATE TYPE.
    CreateType,
    /// An option of ALTER TYPE.
    AlterType,
    /// A constraint of ALTER DOMAIN.
    AlterDomain,
    /// A value of SET.
    SetStatement,
    /// A function in FROM.
    FuncExpr,
    /// A side of a UNION, INTERSECT or EXCEPT.
    SelectSetop,
    /// An element of ORDER BY.
    SelectSortClause,
    /// A value that is written as a constant.
    Constant,
}
