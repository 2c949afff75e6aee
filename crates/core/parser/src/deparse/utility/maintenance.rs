//! Writes TRUNCATE, REFRESH MATERIALIZED VIEW, REINDEX, CLUSTER, ALTER COLLATION, ALTER STATISTICS.

use crate::deparse::need::int_of;
use crate::deparse::{DeparseResult, Deparser};
use crate::node::{
    AlterCollationStmt, AlterStatsStmt, ClusterStmt, RefreshMatViewStmt, ReindexObjectType, ReindexStmt,
    TruncateStmt,
};

impl Deparser<'_> {
    pub(in crate::deparse) fn truncate_stmt(&mut self, statement: TruncateStmt<'_>) -> DeparseResult {
        self.str("TRUNCATE ");
        self.relation_expr_list(statement.relations())?;
        self.char(' ');
        if statement.restart_seqs() {
            self.str("RESTART IDENTITY ");
        }
        self.opt_drop_behavior(statement.behavior())?;
        self.trim();
        Ok(())
    }

    pub(in crate::deparse) fn refresh_mat_view_stmt(
        &mut self,
        statement: RefreshMatViewStmt<'_>,
    ) -> DeparseResult {
        self.str("REFRESH MATERIALIZED VIEW ");
        if statement.concurrent() {
            self.str("CONCURRENTLY ");
        }
        self.relation(statement.relation())?;
        if statement.skip_data() {
            self.str(" WITH NO DATA");
        }
        Ok(())
    }

    pub(in crate::deparse) fn reindex_stmt(&mut self, statement: ReindexStmt<'_>) -> DeparseResult {
        self.str("REINDEX ");
        self.utility_option_list(statement.params())?;
        self.str(match statement.kind() {
            ReindexObjectType::ReindexObjectIndex => "INDEX ",
            ReindexObjectType::ReindexObjectTable => "TABLE ",
            ReindexObjectType::ReindexObjectSchema => "SCHEMA ",
            ReindexObjectType::ReindexObjectSystem => "SYSTEM ",
            ReindexObjectType::ReindexObjectDatabase => "DATABASE ",
        });
        if statement.relation().is_some() {
            self.relation(statement.relation())?;
        } else if let Some(name) = statement.name() {
            self.ident(name);
        }
        Ok(())
    }

    pub(in crate::deparse) fn cluster_stmt(&mut self, statement: ClusterStmt<'_>) -> DeparseResult {
        self.str("CLUSTER ");
        self.utility_option_list(statement.params())?;
        if statement.relation().is_some() {
            self.relation(statement.relation())?;
            self.char(' ');
        }
        if let Some(name) = statement.indexname() {
            self.str("USING ");
            self.ident(name);
        }
        self.trim();
        Ok(())
    }

    pub(in crate::deparse) fn alter_collation_stmt(
        &mut self,
        statement: AlterCollationStmt<'_>,
    ) -> DeparseResult {
        self.str("ALTER COLLATION ");
        self.any_name(statement.collname())?;
        self.str(" REFRESH VERSION");
        Ok(())
    }

    pub(in crate::deparse) fn alter_stats_stmt(&mut self, statement: AlterStatsStmt<'_>) -> DeparseResult {
        self.str("ALTER STATISTICS ");
        if statement.missing_ok() {
            self.str("IF EXISTS ");
        }
        self.any_name(statement.defnames())?;
        self.str(" SET STATISTICS ");
        match statement.stxstattarget() {
            Some(target) => self.int(int_of(Some(target))?),
            None => self.str("DEFAULT"),
        }
        Ok(())
    }
}
