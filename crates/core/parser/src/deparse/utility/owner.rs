//! Writes statements about owners: ALTER ... OWNER TO, DROP OWNED, REASSIGN OWNED.

use crate::deparse::need::required;
use crate::deparse::{DeparseResult, Deparser};
use crate::node::{AlterOwnerStmt, DropOwnedStmt, ReassignOwnedStmt};

impl Deparser<'_> {
    pub(in crate::deparse) fn alter_owner_stmt(&mut self, statement: AlterOwnerStmt<'_>) -> DeparseResult {
        self.str("ALTER ");
        self.object_kind(statement.object_type())?;
        self.object(statement.object_type(), statement.object())?;
        self.str(" OWNER TO ");
        self.role_spec(required(statement.newowner(), "an owner")?)
    }

    pub(in crate::deparse) fn drop_owned_stmt(&mut self, statement: DropOwnedStmt<'_>) -> DeparseResult {
        self.str("DROP OWNED BY ");
        self.role_list(statement.roles())?;
        self.char(' ');
        self.opt_drop_behavior(statement.behavior())?;
        self.trim();
        Ok(())
    }

    pub(in crate::deparse) fn reassign_owned_stmt(
        &mut self,
        statement: ReassignOwnedStmt<'_>,
    ) -> DeparseResult {
        self.str("REASSIGN OWNED BY ");
        self.role_list(statement.roles())?;
        self.str(" TO ");
        self.role_spec(required(statement.newrole(), "a role")?)
    }
}
