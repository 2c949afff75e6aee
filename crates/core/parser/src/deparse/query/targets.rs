//! Writes the columns that a statement returns or sets.

use crate::deparse::context::Context;
use crate::deparse::need::{required, required_node};
use crate::deparse::writer::Indent;
use crate::deparse::{DeparseResult, Deparser};
use crate::node::{
    ColumnRef, List, MultiAssignRef, Node, ResTarget, ReturningClause, ReturningOption, ReturningOptionKind,
    SetToDefault,
};

impl Deparser<'_> {
    /// The expressions of SELECT and RETURNING.
    pub(in crate::deparse) fn target_list(&mut self, targets: List<'_>) -> DeparseResult {
        self.comma_parts(targets, |d, target| {
            let target = required_node::<ResTarget<'_>>(target, "a column of a result")?;
            let value = required(target.val(), "a column of a result")?;
            match value.cast::<ColumnRef<'_>>() {
                Some(column) => d.column_ref(column)?,
                None => d.expr(Some(value), Context::AExpr)?,
            }
            if let Some(name) = target.name() {
                d.str(" AS ");
                d.ident(name);
            }
            Ok(())
        })
    }

    /// The columns of INSERT.
    pub(in crate::deparse) fn insert_column_list(&mut self, columns: List<'_>) -> DeparseResult {
        self.separated(columns, |d, column| d.set_target(required_node(column, "a column to insert")?))
    }

    pub(in crate::deparse) fn set_target(&mut self, target: ResTarget<'_>) -> DeparseResult {
        self.col_id(target.name())?;
        self.opt_indirection(target.indirection(), 0)
    }

    /// The assignments of UPDATE. `(a, b) = row` has an element for each column; the value of the first gives their
    /// number.
    pub(in crate::deparse) fn set_clause_list(&mut self, targets: List<'_>) -> DeparseResult {
        let mut targets = targets.iter();
        let mut is_first = true;
        while let Some(target) = targets.next() {
            if !is_first {
                self.comma_part();
            }
            is_first = false;
            let first = required_node::<ResTarget<'_>>(target, "a column to set")?;
            let value = required(first.val(), "the value of a column to set")?;
            match value.cast::<MultiAssignRef<'_>>() {
                Some(row) => {
                    let others = usize::try_from(row.ncolumns()).unwrap_or_default().saturating_sub(1);
                    self.set_columns_of_row(first, targets.by_ref().take(others))?;
                    self.expr(row.source(), Context::AExpr)?;
                }
                None => {
                    self.set_target(first)?;
                    self.str(" = ");
                    self.expr(Some(value), Context::AExpr)?;
                }
            }
        }
        Ok(())
    }

    fn set_columns_of_row<'a>(
        &mut self,
        first: ResTarget<'a>,
        others: impl Iterator<Item = Option<Node<'a>>>,
    ) -> DeparseResult {
        self.char('(');
        self.set_target(first)?;
        for other in others {
            self.str(", ");
            self.set_target(required_node(other, "a column to set")?)?;
        }
        self.str(") = ");
        Ok(())
    }

    pub(in crate::deparse) fn set_to_default(&mut self, _: SetToDefault<'_>) -> DeparseResult {
        self.str("DEFAULT");
        Ok(())
    }

    pub(in crate::deparse) fn returning_clause(&mut self, clause: ReturningClause<'_>) -> DeparseResult {
        self.group("RETURNING", Indent::Merge);
        if !clause.options().is_empty() {
            self.str("WITH (");
            self.separated(clause.options(), |d, option| {
                let option = required_node::<ReturningOption<'_>>(option, "an option of RETURNING")?;
                d.str(match option.option() {
                    ReturningOptionKind::ReturningOptionOld => "OLD AS ",
                    ReturningOptionKind::ReturningOptionNew => "NEW AS ",
                });
                d.col_id(option.value())
            })?;
            self.str(") ");
        }
        self.target_list(clause.exprs())
    }

    /// RETURNING, at the end of a statement that may have it.
    pub(in crate::deparse) fn opt_returning_clause(
        &mut self,
        clause: Option<ReturningClause<'_>>,
    ) -> DeparseResult {
        if let Some(clause) = clause {
            self.returning_clause(clause)?;
        }
        self.trim();
        self.leave();
        Ok(())
    }
}
