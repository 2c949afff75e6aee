//! CREATE and ALTER SEQUENCE.

use crate::deparse::context::Context;
use crate::deparse::need::required;
use crate::deparse::{DeparseResult, Deparser};
use crate::node::{AlterSeqStmt, CreateSeqStmt};

impl Deparser<'_> {
    pub(in crate::deparse) fn create_seq_stmt(&mut self, statement: CreateSeqStmt<'_>) -> DeparseResult {
        let sequence = required(statement.sequence(), "a sequence")?;
        self.str("CREATE ");
        self.opt_temp(sequence.relpersistence())?;
        self.str("SEQUENCE ");
        if statement.if_not_exists() {
            self.str("IF NOT EXISTS ");
        }
        self.range_var(sequence, Context::None)?;
        self.char(' ');
        self.opt_seq_opt_list(statement.options())?;
        self.trim();
        Ok(())
    }

    pub(in crate::deparse) fn alter_seq_stmt(&mut self, statement: AlterSeqStmt<'_>) -> DeparseResult {
        self.str("ALTER SEQUENCE ");
        if statement.missing_ok() {
            self.str("IF EXISTS ");
        }
        self.relation(statement.sequence())?;
        self.char(' ');
        self.seq_opt_list(statement.options())?;
        self.trim();
        Ok(())
    }
}
