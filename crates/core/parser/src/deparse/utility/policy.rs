//! CREATE and ALTER POLICY.

use crate::deparse::context::Context;
use crate::deparse::need::required;
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{AlterPolicyStmt, CreatePolicyStmt, Node};

/// The commands to which a policy applies.
const COMMANDS: [(&str, &str); 5] = [
    ("all", ""),
    ("select", "FOR SELECT "),
    ("insert", "FOR INSERT "),
    ("update", "FOR UPDATE "),
    ("delete", "FOR DELETE "),
];

impl Deparser<'_> {
    pub(in crate::deparse) fn create_policy_stmt(
        &mut self,
        statement: CreatePolicyStmt<'_>,
    ) -> DeparseResult {
        self.str("CREATE POLICY ");
        self.ident(required(statement.policy_name(), "a policy")?);
        self.str(" ON ");
        self.relation(statement.table())?;
        self.char(' ');
        if !statement.permissive() {
            self.str("AS RESTRICTIVE ");
        }
        let command = required(statement.cmd_name(), "the command of a policy")?;
        let Some((_, words)) = COMMANDS.iter().find(|(name, _)| *name == command) else {
            return Err(DeparseError::new(format!("a policy cannot be for {command:?}")));
        };
        self.str(words);
        self.str("TO ");
        self.role_list(statement.roles())?;
        self.policy_condition(" USING (", statement.qual())?;
        self.policy_condition(" WITH CHECK (", statement.with_check())
    }

    pub(in crate::deparse) fn alter_policy_stmt(&mut self, statement: AlterPolicyStmt<'_>) -> DeparseResult {
        self.str("ALTER POLICY ");
        self.ident(required(statement.policy_name(), "a policy")?);
        self.str(" ON ");
        self.relation(statement.table())?;
        if !statement.roles().is_empty() {
            self.str(" TO ");
            self.role_list(statement.roles())?;
        }
        self.policy_condition(" USING (", statement.qual())?;
        self.policy_condition(" WITH CHECK (", statement.with_check())
    }

    fn policy_condition(&mut self, words: &str, condition: Option<Node<'_>>) -> DeparseResult {
        if condition.is_some() {
            self.str(words);
            self.expr(condition, Context::AExpr)?;
            self.char(')');
        }
        Ok(())
    }
}
