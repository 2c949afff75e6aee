//! Writes SELECT, VALUES, and set operations.

use crate::deparse::context::Context;
use crate::deparse::need::{list_of, required, required_node};
use crate::deparse::writer::Indent;
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{AConst, LimitOption, SelectStmt, SetOperation, WindowDef};

/// In a chain of more set operations than this, left sides get parentheses only if they need them. libpg_query always
/// writes parentheses, but the grammar's stack has room for only 10,000 symbols (`YYMAXDEPTH`), so the text of a long
/// chain could not be read again.
const ENCLOSED_SIDES_MAX: usize = 1_000;

/// What surrounds a SELECT.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Enclosure {
    /// Nothing: it continues the level of the statement that it is part of.
    None,
    Level,
    Parentheses,
}

impl Enclosure {
    fn of(stmt: SelectStmt<'_>, context: Context) -> Self {
        match context {
            Context::SelectSetop => match Self::binds_loosely(stmt) {
                true => Self::Parentheses,
                false => Self::None,
            },
            Context::InsertSelect => Self::None,
            _ => Self::Level,
        }
    }

    /// What surrounds the left side of an operation in a chain that is too long for parentheses everywhere.
    fn of_long_left_side(stmt: SelectStmt<'_>, operation: SetOperation) -> Self {
        let binds_as_tightly =
            operation != SetOperation::SetopIntersect || stmt.op() == SetOperation::SetopIntersect;
        match stmt.op() {
            SetOperation::SetopNone => Self::of(stmt, Context::SelectSetop),
            _ if binds_as_tightly && !Self::has_clauses_after(stmt) => Self::None,
            _ => Self::Parentheses,
        }
    }

    fn binds_loosely(stmt: SelectStmt<'_>) -> bool {
        stmt.op() != SetOperation::SetopNone || Self::has_clauses_after(stmt)
    }

    /// Whether a SELECT has clauses that would belong to the whole set operation if there were no parentheses.
    fn has_clauses_after(stmt: SelectStmt<'_>) -> bool {
        !stmt.sort_clause().is_empty()
            || stmt.limit_offset().is_some()
            || stmt.limit_count().is_some()
            || !stmt.locking_clause().is_empty()
            || stmt.with_clause().is_some()
    }
}

fn is_long_chain(stmt: SelectStmt<'_>) -> bool {
    std::iter::successors(Some(stmt), |stmt| stmt.larg()).nth(ENCLOSED_SIDES_MAX + 1).is_some()
}

/// Checks that a set operation has none of the clauses that only its sides may have.
fn has_only_sides(stmt: SelectStmt<'_>) -> DeparseResult {
    let wrong = own_clause(stmt).or((!stmt.values_lists().is_empty()).then_some("VALUES"));
    wrong.map_or(Ok(()), |clause| {
        Err(DeparseError::new(format!(
            "a UNION, INTERSECT or EXCEPT has no {clause} of its own: its sides have"
        )))
    })
}

/// The name of a clause between SELECT and ORDER BY that the statement has, if any.
fn own_clause(stmt: SelectStmt<'_>) -> Option<&'static str> {
    let clauses = [
        ("WHERE", stmt.where_clause().is_some()),
        ("target list", !stmt.target_list().is_empty()),
        ("FROM", !stmt.from_clause().is_empty()),
        ("GROUP BY", !stmt.group_clause().is_empty()),
        ("HAVING", stmt.having_clause().is_some()),
        ("WINDOW", !stmt.window_clause().is_empty()),
        ("DISTINCT", !stmt.distinct_clause().is_empty()),
        ("INTO", stmt.into_clause().is_some()),
    ];
    clauses.into_iter().find(|(_, is_there)| *is_there).map(|(name, _)| name)
}

impl Deparser<'_> {
    /// A SELECT of any kind.
    pub(in crate::deparse) fn select_stmt(
        &mut self,
        stmt: SelectStmt<'_>,
        context: Context,
    ) -> DeparseResult {
        self.deeper(|d| d.select_with_left_sides(stmt, context))
    }

    /// Writes a SELECT or a chain of set operations. The tree of a chain is as deep as the chain is long, because
    /// each left side contains the rest. So left sides are visited in a loop and not by recursion.
    fn select_with_left_sides(&mut self, mut stmt: SelectStmt<'_>, context: Context) -> DeparseResult {
        let mut operations = Vec::new();
        let mut enclosure = Enclosure::of(stmt, context);
        self.select_begins(stmt, enclosure)?;
        let is_long = stmt.op() != SetOperation::SetopNone && is_long_chain(stmt);
        while stmt.op() != SetOperation::SetopNone {
            has_only_sides(stmt)?;
            operations.push((stmt, enclosure));
            let operation = stmt.op();
            stmt = required(stmt.larg(), "the left side of a set operation")?;
            enclosure = match is_long {
                true => Enclosure::of_long_left_side(stmt, operation),
                false => Enclosure::of(stmt, Context::SelectSetop),
            };
            self.select_begins(stmt, enclosure)?;
        }
        self.simple_select(stmt)?;
        self.select_ends(stmt, enclosure)?;
        while let Some((stmt, enclosure)) = operations.pop() {
            self.set_operation(stmt)?;
            self.select_ends(stmt, enclosure)?;
        }
        Ok(())
    }

    fn select_begins(&mut self, stmt: SelectStmt<'_>, enclosure: Enclosure) -> DeparseResult {
        if enclosure == Enclosure::Parentheses {
            self.part();
            self.char('(');
        }
        if enclosure != Enclosure::None {
            self.enter();
        }
        self.opt_with_clause(stmt.with_clause())
    }

    /// The clauses after the SELECT or the set operation.
    fn select_ends(&mut self, stmt: SelectStmt<'_>, enclosure: Enclosure) -> DeparseResult {
        self.opt_sort_clause(stmt.sort_clause(), Context::SelectSortClause)?;
        self.limit(stmt)?;
        for clause in stmt.locking_clause() {
            self.locking_clause(required_node(clause, "a locking clause")?)?;
        }
        self.trim();
        if enclosure != Enclosure::None {
            self.leave();
        }
        if enclosure == Enclosure::Parentheses {
            self.char(')');
        }
        Ok(())
    }

    /// The operator and the right side.
    fn set_operation(&mut self, stmt: SelectStmt<'_>) -> DeparseResult {
        let operator = match (stmt.op(), stmt.all()) {
            (SetOperation::SetopIntersect, false) => "INTERSECT",
            (SetOperation::SetopIntersect, true) => "INTERSECT ALL",
            (SetOperation::SetopExcept, false) => "EXCEPT",
            (SetOperation::SetopExcept, true) => "EXCEPT ALL",
            (SetOperation::SetopNone | SetOperation::SetopUnion, false) => "UNION",
            (SetOperation::SetopNone | SetOperation::SetopUnion, true) => "UNION ALL",
        };
        self.group(operator, Indent::None);
        self.part();
        self.select_stmt(required(stmt.rarg(), "the right side of a set operation")?, Context::SelectSetop)?;
        self.char(' ');
        Ok(())
    }

    /// SELECT or VALUES up to its ORDER BY.
    fn simple_select(&mut self, stmt: SelectStmt<'_>) -> DeparseResult {
        if !stmt.values_lists().is_empty() {
            return self.values(stmt);
        }
        self.group("SELECT", Indent::Merge);
        if !stmt.target_list().is_empty() {
            self.distinct(stmt)?;
            self.marked(stmt.target_list().node(), |d| d.target_list(stmt.target_list()))?;
            self.char(' ');
        }
        self.select_into(stmt)?;
        self.from_clause(stmt.from_clause())?;
        self.where_clause(stmt.where_clause())?;
        self.group_clause(stmt)?;
        if let Some(having) = stmt.having_clause() {
            self.group("HAVING", Indent::Parts);
            self.expr(Some(having), Context::AExpr)?;
            self.char(' ');
        }
        self.window_clause(stmt)
    }

    fn values(&mut self, stmt: SelectStmt<'_>) -> DeparseResult {
        if let Some(clause) = own_clause(stmt) {
            return Err(DeparseError::new(format!("VALUES cannot have {clause}")));
        }
        self.group("VALUES", Indent::Merge);
        self.marked(stmt.values_lists().node(), |d| {
            d.comma_parts(stmt.values_lists(), |d, row| {
                d.char('(');
                d.expr_list(list_of(row, "a row of VALUES")?)?;
                d.char(')');
                Ok(())
            })
        })?;
        self.char(' ');
        Ok(())
    }

    fn distinct(&mut self, stmt: SelectStmt<'_>) -> DeparseResult {
        let columns = stmt.distinct_clause();
        // Plain DISTINCT is a list of one NULL.
        let Some(first) = columns.get(0) else { return Ok(()) };
        self.never_merge();
        self.str("DISTINCT ");
        if first.is_some() {
            self.str("ON (");
            self.expr_list(columns)?;
            self.str(") ");
        }
        self.part();
        Ok(())
    }

    fn select_into(&mut self, stmt: SelectStmt<'_>) -> DeparseResult {
        let Some(into) = stmt.into_clause() else { return Ok(()) };
        let table = required(into.rel(), "the table of INTO")?;
        self.group("INTO", Indent::Parts);
        self.opt_temp(table.relpersistence())?;
        self.into_clause(into)?;
        self.char(' ');
        Ok(())
    }

    fn group_clause(&mut self, stmt: SelectStmt<'_>) -> DeparseResult {
        if stmt.group_clause().is_empty() {
            return Ok(());
        }
        self.group("GROUP BY", Indent::Merge);
        if stmt.group_distinct() {
            self.str("DISTINCT ");
        }
        self.group_by_list(stmt.group_clause())?;
        self.char(' ');
        Ok(())
    }

    fn window_clause(&mut self, stmt: SelectStmt<'_>) -> DeparseResult {
        if stmt.window_clause().is_empty() {
            return Ok(());
        }
        self.group("WINDOW", Indent::Parts);
        self.separated(stmt.window_clause(), |d, window| {
            let window = required_node::<WindowDef<'_>>(window, "a window")?;
            d.column_name(required(window.name(), "a window's name")?);
            d.str(" AS ");
            d.window_def(window)
        })?;
        self.char(' ');
        Ok(())
    }

    fn limit(&mut self, stmt: SelectStmt<'_>) -> DeparseResult {
        if let Some(count) = stmt.limit_count() {
            let with_ties = stmt.limit_option() == LimitOption::LimitOptionWithTies;
            match stmt.limit_option() {
                LimitOption::LimitOptionCount => self.group("LIMIT", Indent::Parts),
                LimitOption::LimitOptionWithTies => self.str("FETCH FIRST "),
                LimitOption::LimitOptionDefault => {}
            }
            if with_ties {
                self.c_expr(Some(count))?;
            } else if count.cast::<AConst<'_>>().is_some_and(AConst::isnull) {
                self.str("ALL");
            } else {
                self.expr(Some(count), Context::AExpr)?;
            }
            self.str(if with_ties { " ROWS WITH TIES " } else { " " });
        }
        if let Some(offset) = stmt.limit_offset() {
            self.group("OFFSET", Indent::Parts);
            self.expr(Some(offset), Context::AExpr)?;
            self.char(' ');
        }
        Ok(())
    }
}
