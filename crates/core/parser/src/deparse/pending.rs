//! Rules that are still to be written: whoever writes one takes it out of here.
#![allow(dead_code)]

use super::context::Context;
use super::{DeparseError, Deparser, Done};
use crate::node::*;

fn pending(rule: &str) -> Done {
    Err(DeparseError::new(format!("{rule} is still to be written")))
}

impl Deparser<'_> {
    /// deparseSeqOptElem
    pub(super) fn seq_opt_elem(&mut self, _: DefElem<'_>) -> Done {
        pending("seq_opt_elem")
    }

    /// deparseSeqOptList
    pub(super) fn seq_opt_list(&mut self, _: List<'_>) -> Done {
        pending("seq_opt_list")
    }

    /// deparseOptSeqOptList
    pub(super) fn opt_seq_opt_list(&mut self, _: List<'_>) -> Done {
        pending("opt_seq_opt_list")
    }

    /// deparseOptParenthesizedSeqOptList
    pub(super) fn opt_parenthesized_seq_opt_list(&mut self, _: List<'_>) -> Done {
        pending("opt_parenthesized_seq_opt_list")
    }

    /// deparseOptDropBehavior
    pub(super) fn opt_drop_behavior(&mut self, _: DropBehavior) -> Done {
        pending("opt_drop_behavior")
    }

    /// deparseOptTemp
    pub(super) fn opt_temp(&mut self, _: char) -> Done {
        pending("opt_temp")
    }

    /// deparseAlterIdentityColumnOptionList
    pub(super) fn alter_identity_column_option_list(&mut self, _: List<'_>) -> Done {
        pending("alter_identity_column_option_list")
    }

    /// deparseRelOptions
    pub(super) fn rel_options(&mut self, _: List<'_>) -> Done {
        pending("rel_options")
    }

    /// deparseOptWith
    pub(super) fn opt_with(&mut self, _: List<'_>) -> Done {
        pending("opt_with")
    }

    /// deparseOptCollate
    pub(super) fn opt_collate(&mut self, _: List<'_>) -> Done {
        pending("opt_collate")
    }

    /// deparseIndexElem
    pub(super) fn index_elem(&mut self, _: IndexElem<'_>) -> Done {
        pending("index_elem")
    }

    /// deparseOptInherit
    pub(super) fn opt_inherit(&mut self, _: List<'_>) -> Done {
        pending("opt_inherit")
    }

    /// deparseColumnDef
    pub(super) fn column_def(&mut self, _: ColumnDef<'_>) -> Done {
        pending("column_def")
    }

    /// deparseTableLikeClause
    pub(super) fn table_like_clause(&mut self, _: TableLikeClause<'_>) -> Done {
        pending("table_like_clause")
    }

    /// deparseConstraint
    pub(super) fn constraint(&mut self, _: Constraint<'_>, _: Context) -> Done {
        pending("constraint")
    }

    /// deparseATAlterConstraint
    pub(super) fn at_alter_constraint(&mut self, _: ATAlterConstraint<'_>) -> Done {
        pending("at_alter_constraint")
    }

    /// deparsePartitionElem
    pub(super) fn partition_elem(&mut self, _: PartitionElem<'_>) -> Done {
        pending("partition_elem")
    }

    /// deparsePartitionSpec
    pub(super) fn partition_spec(&mut self, _: PartitionSpec<'_>) -> Done {
        pending("partition_spec")
    }

    /// deparsePartitionBoundSpec
    pub(super) fn partition_bound_spec(&mut self, _: PartitionBoundSpec<'_>) -> Done {
        pending("partition_bound_spec")
    }

    /// deparsePartitionCmd
    pub(super) fn partition_cmd(&mut self, _: PartitionCmd<'_>) -> Done {
        pending("partition_cmd")
    }

    /// deparseTableElement
    pub(super) fn table_element(&mut self, _: Option<Node<'_>>) -> Done {
        pending("table_element")
    }

    /// deparseCreateStmt
    pub(super) fn create_stmt(&mut self, _: CreateStmt<'_>, _: bool) -> Done {
        pending("create_stmt")
    }

    /// deparseCreateForeignTableStmt
    pub(super) fn create_foreign_table_stmt(&mut self, _: CreateForeignTableStmt<'_>) -> Done {
        pending("create_foreign_table_stmt")
    }

    /// deparseCreateTableAsStmt
    pub(super) fn create_table_as_stmt(&mut self, _: CreateTableAsStmt<'_>) -> Done {
        pending("create_table_as_stmt")
    }

    /// deparseViewStmt
    pub(super) fn view_stmt(&mut self, _: ViewStmt<'_>) -> Done {
        pending("view_stmt")
    }

    /// deparseAlterTableCmd
    pub(super) fn alter_table_cmd(&mut self, _: AlterTableCmd<'_>, _: Context) -> Done {
        pending("alter_table_cmd")
    }

    /// deparseAlterTableMoveAllStmt
    pub(super) fn alter_table_move_all_stmt(&mut self, _: AlterTableMoveAllStmt<'_>) -> Done {
        pending("alter_table_move_all_stmt")
    }

    /// deparseAlterTableStmt
    pub(super) fn alter_table_stmt(&mut self, _: AlterTableStmt<'_>) -> Done {
        pending("alter_table_stmt")
    }

    /// deparseIndexStmt
    pub(super) fn index_stmt(&mut self, _: IndexStmt<'_>) -> Done {
        pending("index_stmt")
    }

    /// deparseRuleStmt
    pub(super) fn rule_stmt(&mut self, _: RuleStmt<'_>) -> Done {
        pending("rule_stmt")
    }

    /// deparseStatsElem
    pub(super) fn stats_elem(&mut self, _: StatsElem<'_>) -> Done {
        pending("stats_elem")
    }

    /// deparseCreateStatsStmt
    pub(super) fn create_stats_stmt(&mut self, _: CreateStatsStmt<'_>) -> Done {
        pending("create_stats_stmt")
    }
}
