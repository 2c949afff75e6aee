//! Writes names of tables, and aliases.

use crate::deparse::context::Context;
use crate::deparse::need::required_node;
use crate::deparse::{DeparseResult, Deparser};
use crate::node::{Alias, List, RangeVar};

impl Deparser<'_> {
    pub(in crate::deparse) fn range_var(&mut self, table: RangeVar<'_>, context: Context) -> DeparseResult {
        if !table.inh() && !matches!(context, Context::CreateType | Context::AlterType) {
            self.str("ONLY ");
        }
        for qualifier in [table.catalogname(), table.schemaname()].into_iter().flatten() {
            self.ident(qualifier);
            self.char('.');
        }
        self.col_id(table.relname())?;
        if let Some(alias) = table.alias() {
            let is_keyword = context == Context::Changed && alias.aliasname() == Some("set");
            self.str(if context == Context::InsertRelation || is_keyword { " AS " } else { " " });
            self.alias(alias)?;
        }
        Ok(())
    }

    pub(in crate::deparse) fn qualified_name_list(&mut self, tables: List<'_>) -> DeparseResult {
        self.separated(tables, |d, table| d.range_var(required_node(table, "a table")?, Context::None))
    }

    /// An alias, with its names for columns.
    pub(in crate::deparse) fn alias(&mut self, alias: Alias<'_>) -> DeparseResult {
        self.col_id(alias.aliasname())?;
        if !alias.colnames().is_empty() {
            self.char('(');
            self.name_list(alias.colnames())?;
            self.char(')');
        }
        Ok(())
    }
}
