//! Rules.

use crate::deparse::context::Context;
use crate::deparse::need::required;
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{CmdType, NodeTag, RuleStmt};

impl Deparser<'_> {
    pub(in crate::deparse) fn rule_stmt(&mut self, stmt: RuleStmt<'_>) -> DeparseResult {
        self.str(if stmt.replace() { "CREATE OR REPLACE RULE " } else { "CREATE RULE " });
        self.col_id(stmt.rulename())?;
        self.str(match stmt.event() {
            CmdType::CmdSelect => " AS ON SELECT TO ",
            CmdType::CmdUpdate => " AS ON UPDATE TO ",
            CmdType::CmdInsert => " AS ON INSERT TO ",
            CmdType::CmdDelete => " AS ON DELETE TO ",
            CmdType::CmdMerge => " AS ON MERGE TO ",
            CmdType::CmdUnknown | CmdType::CmdUtility | CmdType::CmdNothing => {
                return Err(DeparseError::misplaced(NodeTag::RuleStmt, "a rule without an event"));
            }
        });
        self.range_var(required(stmt.relation(), "the table of a rule")?, Context::None)?;
        self.char(' ');
        self.where_clause(stmt.where_clause())?;
        self.str(if stmt.instead() { "DO INSTEAD " } else { "DO " });
        self.rule_actions(stmt)
    }

    fn rule_actions(&mut self, stmt: RuleStmt<'_>) -> DeparseResult {
        let actions = stmt.actions();
        match actions.len() {
            0 => {
                self.str("NOTHING");
                Ok(())
            }
            1 => self.rule_action_stmt(actions.first()),
            _ => {
                self.char('(');
                for (index, action) in actions.iter().enumerate() {
                    if index > 0 {
                        self.str("; ");
                    }
                    self.rule_action_stmt(action)?;
                }
                self.char(')');
                Ok(())
            }
        }
    }
}
