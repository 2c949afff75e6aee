//! Writes FOR UPDATE, FOR SHARE and so on.

use crate::deparse::writer::Indent;
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{LockClauseStrength, LockWaitPolicy, LockingClause, NodeTag};

impl Deparser<'_> {
    pub(in crate::deparse) fn locking_clause(&mut self, clause: LockingClause<'_>) -> DeparseResult {
        let keyword = match clause.strength() {
            LockClauseStrength::LcsForkeyshare => "FOR KEY SHARE",
            LockClauseStrength::LcsForshare => "FOR SHARE",
            LockClauseStrength::LcsFornokeyupdate => "FOR NO KEY UPDATE",
            LockClauseStrength::LcsForupdate => "FOR UPDATE",
            LockClauseStrength::LcsNone => {
                return Err(DeparseError::misplaced(NodeTag::LockingClause, "a lock of no strength"));
            }
        };
        self.group(keyword, Indent::Parts);
        if !clause.locked_rels().is_empty() {
            self.str("OF ");
            self.qualified_name_list(clause.locked_rels())?;
            self.char(' ');
        }
        match clause.wait_policy() {
            LockWaitPolicy::LockWaitError => self.str("NOWAIT"),
            LockWaitPolicy::LockWaitSkip => self.str("SKIP LOCKED"),
            LockWaitPolicy::LockWaitBlock => self.trim(),
        }
        Ok(())
    }
}
