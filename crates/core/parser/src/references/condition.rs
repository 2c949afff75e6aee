//! Comparisons from the nodes that hold them.

use super::comparison::{Column, Comparison, Holds, Test};
use super::value::{Values, row};
use crate::node::*;

/// Operators whose result is true or false whatever they compare.
const COMPARING: [&str; 17] =
    ["=", "<>", "<", "<=", ">", ">=", "~~", "!~~", "~~*", "!~~*", "~", "!~", "~*", "!~*", "@>", "<@", "&&"];

/// Where the comparisons of a node go, and what they have in common.
pub(super) struct Found<'s, 'a> {
    pub(super) comparisons: &'s mut Vec<Comparison<'a>>,
    pub(super) holds: Holds,
    pub(super) level: u32,
}

impl<'a> Found<'_, 'a> {
    fn push(&mut self, column: Option<Column<'a>>, test: Test<'a>, values: Values<'a>, location: i32) {
        if let Some(column) = column
            && values.are_values()
        {
            let Self { holds, level, .. } = *self;
            let comparison = Comparison { column, test, is_reversed: false, values, holds, level, location };
            self.comparisons.push(comparison);
        }
    }

    pub(super) fn null_test(&mut self, test: NullTest<'a>) {
        let how = match test.nulltesttype() {
            NullTestType::IsNull => Test::Null,
            NullTestType::IsNotNull => Test::NotNull,
        };
        self.push(test.arg().and_then(Column::of), how, Values::None, test.location());
    }

    pub(super) fn boolean_test(&mut self, test: BooleanTest<'a>) {
        let how = Test::Boolean(test.booltesttype());
        self.push(test.arg().and_then(Column::of), how, Values::None, test.location());
    }

    pub(super) fn expression(&mut self, node: AExpr<'a>) {
        let (Some(operator), Some(left), Some(right)) = (operator(node), node.lexpr(), node.rexpr()) else {
            return;
        };
        let location = node.location();
        let list = || Values::List(right.as_list().unwrap_or_default());
        let (test, values) = match node.kind() {
            AExprKind::AexprOp | AExprKind::AexprLike | AExprKind::AexprIlike | AExprKind::AexprSimilar => {
                return self.operation(operator, left, right, location);
            }
            AExprKind::AexprDistinct => return self.either_way(Test::Distinct, left, right, location),
            AExprKind::AexprNotDistinct => return self.either_way(Test::NotDistinct, left, right, location),
            AExprKind::AexprIn => return self.in_list(operator == "=", left, list(), location),
            AExprKind::AexprOpAny => (Test::Any(operator), array(right)),
            AExprKind::AexprOpAll => (Test::All(operator), array(right)),
            AExprKind::AexprBetween => (Test::Between, list()),
            AExprKind::AexprNotBetween => (Test::NotBetween, list()),
            AExprKind::AexprBetweenSym => (Test::BetweenSymmetric, list()),
            AExprKind::AexprNotBetweenSym => (Test::NotBetweenSymmetric, list()),
            AExprKind::AexprNullif => return,
        };
        self.push(Column::of(left), test, values, location);
    }

    /// An operator: also between rows, which are equal if all their columns are.
    fn operation(&mut self, operator: &'a str, left: Node<'a>, right: Node<'a>, location: i32) {
        let rows = (left.cast::<RowExpr<'a>>(), right.cast::<RowExpr<'a>>());
        let (Some(left_row), Some(right_row)) = rows else {
            // Where a condition stands any operator is a test. Elsewhere `a + 1` is none.
            if self.holds != Holds::Maybe || COMPARING.contains(&operator) {
                self.either_way(Test::Operator(operator), left, right, location);
            }
            return;
        };
        if operator == "=" && left_row.args().len() == right_row.args().len() {
            for (left, right) in left_row.args().nodes().zip(right_row.args().nodes()) {
                self.either_way(Test::Operator(operator), left, right, location);
            }
        }
    }

    /// A column on either side.
    fn either_way(&mut self, test: Test<'a>, left: Node<'a>, right: Node<'a>, location: i32) {
        if let Some(column) = Column::of(left) {
            return self.push(Some(column), test, Values::One(right), location);
        }
        let before = self.comparisons.len();
        self.push(Column::of(right), test, Values::One(left), location);
        for comparison in self.comparisons.iter_mut().skip(before) {
            comparison.is_reversed = true;
        }
    }

    /// IN a list. A row that is in a list of rows has each of its columns in the list of that column's values; of a row
    /// that is not, nothing is known of its columns.
    fn in_list(&mut self, is_in: bool, left: Node<'a>, list: Values<'a>, location: i32) {
        let Some(columns) = left.cast::<RowExpr<'a>>() else {
            let test = if is_in { Test::In } else { Test::NotIn };
            return self.push(Column::of(left), test, list, location);
        };
        let Values::List(rows) = list else { return };
        if is_in {
            for (place, column) in (0_u32..).zip(columns.args()) {
                self.push(column.and_then(Column::of), Test::In, Values::Rows { rows, place }, location);
            }
        }
    }

    /// What INSERT's VALUES give its columns.
    pub(super) fn insert(&mut self, insert: InsertStmt<'a>) {
        let select = insert.select_stmt().and_then(|node| node.cast::<SelectStmt<'a>>());
        let rows = select.map_or(List::default(), SelectStmt::values_lists);
        let width = rows.first().and_then(row).map_or(0, List::len);
        self.inserted(insert.cols(), width, |place| Some(Values::Rows { rows, place }));
    }

    /// What MERGE's INSERT gives its columns: one row.
    pub(super) fn insert_row(&mut self, columns: List<'a>, row: List<'a>) {
        self.inserted(columns, row.len(), |place| {
            let place = usize::try_from(place).ok()?;
            Some(Values::One(row.get(place).flatten()?))
        });
    }

    /// What is given to columns, or to all of a table's without a list of them.
    fn inserted(&mut self, columns: List<'a>, width: usize, values: impl Fn(u32) -> Option<Values<'a>>) {
        let mut targets = columns.nodes().filter_map(|node| node.cast::<ResTarget<'a>>());
        for place in (0_u32..).take(width) {
            let target = targets.next();
            // `a[1]` and `a.b` are no columns of their own.
            if target.is_some_and(|target| !target.indirection().is_empty())
                || (target.is_none() && !columns.is_empty())
            {
                continue;
            }
            let column = Column::of_target(target.and_then(ResTarget::name), Some(place));
            let location = target.map_or(-1, ResTarget::location);
            if let Some(values) = values(place) {
                self.push(Some(column), Test::Inserted, values, location);
            }
        }
    }

    /// What UPDATE sets a column to.
    pub(super) fn assigned(&mut self, target: ResTarget<'a>) {
        let value = match target.val().map(Node::view) {
            Some(View::MultiAssignRef(part)) => one_of_row(part),
            _ => target.val(),
        };
        if let Some(value) = value
            && target.indirection().is_empty()
        {
            let column = Column::of_target(target.name(), None);
            self.push(Some(column), Test::Assigned, Values::One(value), target.location());
        }
    }
}

/// The operator of an expression; None if it is one of another schema, which may do anything.
fn operator<'a>(node: AExpr<'a>) -> Option<&'a str> {
    let mut parts = node.name().strings().rev();
    let name = parts.next()?;
    match parts.next() {
        None => Some(name),
        Some(schema) => (schema == "pg_catalog").then_some(name),
    }
}

/// The elements of an array that is written out, casts taken off; else the expression that is the array.
fn array(node: Node<'_>) -> Values<'_> {
    let mut inner = node;
    while let Some(cast) = inner.cast::<TypeCast<'_>>() {
        let Some(argument) = cast.arg() else { break };
        inner = argument;
    }
    match inner.cast::<AArrayExpr<'_>>() {
        Some(array) => Values::List(array.elements()),
        None => Values::Array(node),
    }
}

/// The element of `SET (a, b) = (1, 2)` that is for one column.
fn one_of_row(part: MultiAssignRef<'_>) -> Option<Node<'_>> {
    let row = part.source()?.cast::<RowExpr<'_>>()?.args();
    // A row of another length is an error at the server.
    let place = usize::try_from(part.colno()).ok()?.checked_sub(1)?;
    if usize::try_from(part.ncolumns()).ok() != Some(row.len()) {
        return None;
    }
    row.get(place).flatten()
}
