//! Writes ALTER TABLE, ALTER INDEX and so on.

use crate::deparse::context::Context;
use crate::deparse::need::{required, required_node};
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{AlterTableMoveAllStmt, AlterTableStmt, ObjectType};

/// The keyword of the kind of object in a node of ALTER TABLE, which may also alter indexes, views and so on.
fn keyword_of(kind: ObjectType) -> Result<&'static str, DeparseError> {
    Ok(match kind {
        ObjectType::ObjectTable => "TABLE ",
        ObjectType::ObjectForeignTable => "FOREIGN TABLE ",
        ObjectType::ObjectIndex => "INDEX ",
        ObjectType::ObjectSequence => "SEQUENCE ",
        ObjectType::ObjectView => "VIEW ",
        ObjectType::ObjectMatview => "MATERIALIZED VIEW ",
        ObjectType::ObjectType => "TYPE ",
        other => return Err(DeparseError::new(format!("ALTER TABLE cannot alter {}", other.c_name()))),
    })
}

impl Deparser<'_> {
    pub(in crate::deparse) fn alter_table_stmt(&mut self, stmt: AlterTableStmt<'_>) -> DeparseResult {
        let context = match stmt.objtype() {
            ObjectType::ObjectType => Context::AlterType,
            _ => Context::None,
        };
        self.str("ALTER ");
        self.str(keyword_of(stmt.objtype())?);
        if stmt.missing_ok() {
            self.str("IF EXISTS ");
        }
        self.range_var(required(stmt.relation(), "the table of ALTER TABLE")?, context)?;
        self.char(' ');
        self.enter();
        self.comma_parts(stmt.cmds(), |d, command| {
            d.alter_table_cmd(required_node(command, "a command of ALTER TABLE")?, context)
        })?;
        self.leave();
        Ok(())
    }

    pub(in crate::deparse) fn alter_table_move_all_stmt(
        &mut self,
        stmt: AlterTableMoveAllStmt<'_>,
    ) -> DeparseResult {
        self.str("ALTER ");
        self.str(keyword_of(stmt.objtype())?);
        self.keyword_name(
            "ALL IN TABLESPACE",
            required(stmt.orig_tablespacename(), "the name of a tablespace")?,
        );
        if !stmt.roles().is_empty() {
            self.str("OWNED BY ");
            self.role_list(stmt.roles())?;
            self.char(' ');
        }
        self.keyword_name("SET TABLESPACE", required(stmt.new_tablespacename(), "the name of a tablespace")?);
        if stmt.nowait() {
            self.str("NOWAIT");
        }
        Ok(())
    }
}
