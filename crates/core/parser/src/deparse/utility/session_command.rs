//! Writes VACUUM, LOCK, LOAD, CHECKPOINT, EXPLAIN.

use crate::deparse::need::required_node;
use crate::deparse::writer::Indent;
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{CheckPointStmt, ExplainStmt, LoadStmt, LockStmt, VacuumRelation, VacuumStmt};

/// PostgreSQL's `AccessExclusiveLock`, the default mode of LOCK.
const ACCESS_EXCLUSIVE_LOCK: i32 = 8;

/// The keywords of a mode of LOCK, by its number in PostgreSQL's `lockdefs.h`.
fn lock_mode(mode: i32) -> Result<&'static str, DeparseError> {
    Ok(match mode {
        1 => "ACCESS SHARE",
        2 => "ROW SHARE",
        3 => "ROW EXCLUSIVE",
        4 => "SHARE UPDATE EXCLUSIVE",
        5 => "SHARE",
        6 => "SHARE ROW EXCLUSIVE",
        7 => "EXCLUSIVE",
        ACCESS_EXCLUSIVE_LOCK => "ACCESS EXCLUSIVE",
        other => return Err(DeparseError::new(format!("{other} is not a mode of LOCK"))),
    })
}

impl Deparser<'_> {
    pub(in crate::deparse) fn check_point_stmt(&mut self, _: CheckPointStmt<'_>) -> DeparseResult {
        self.str("CHECKPOINT");
        Ok(())
    }

    pub(in crate::deparse) fn load_stmt(&mut self, stmt: LoadStmt<'_>) -> DeparseResult {
        self.str("LOAD ");
        self.sconst(stmt.filename())
    }

    pub(in crate::deparse) fn lock_stmt(&mut self, stmt: LockStmt<'_>) -> DeparseResult {
        self.str("LOCK TABLE ");
        self.relation_expr_list(stmt.relations())?;
        if stmt.mode() != ACCESS_EXCLUSIVE_LOCK {
            self.str(" IN ");
            self.str(lock_mode(stmt.mode())?);
            self.str(" MODE");
        }
        if stmt.nowait() {
            self.str(" NOWAIT");
        }
        Ok(())
    }

    pub(in crate::deparse) fn vacuum_stmt(&mut self, stmt: VacuumStmt<'_>) -> DeparseResult {
        self.str(if stmt.is_vacuumcmd() { "VACUUM " } else { "ANALYZE " });
        self.utility_option_list(stmt.options())?;
        self.separated(stmt.rels(), |d, table| {
            let table = required_node::<VacuumRelation<'_>>(table, "a table")?;
            d.relation(table.relation())?;
            if table.va_cols().is_empty() {
                return Ok(());
            }
            d.char('(');
            d.name_list(table.va_cols())?;
            d.char(')');
            Ok(())
        })?;
        self.trim();
        Ok(())
    }

    pub(in crate::deparse) fn explain_stmt(&mut self, stmt: ExplainStmt<'_>) -> DeparseResult {
        self.group("EXPLAIN", Indent::None);
        self.utility_option_list(stmt.options())?;
        self.explainable_stmt(stmt.query())
    }
}
