//! Selects the method that writes a statement.

use super::context::Context;
use super::need::required;
use super::{DeparseError, DeparseResult, Deparser};
use crate::node::{Node, View};

impl Deparser<'_> {
    /// Any statement.
    pub(super) fn stmt(&mut self, node: Option<Node<'_>>) -> DeparseResult {
        let node = required(node, "a statement")?;
        self.deeper(|d| match node.view() {
            // Statements that may be inside other statements begin a level themselves.
            View::SelectStmt(stmt) => d.select_stmt(stmt, Context::None),
            View::InsertStmt(stmt) => d.insert_stmt(stmt),
            View::UpdateStmt(stmt) => d.update_stmt(stmt),
            View::DeleteStmt(stmt) => d.delete_stmt(stmt),
            View::MergeStmt(stmt) => d.merge_stmt(stmt),
            view => {
                d.enter();
                d.other_stmt(view)?;
                d.leave();
                Ok(())
            }
        })
    }

    // tidy: long because it is one arm for each statement
    /// A statement that cannot be inside a query.
    fn other_stmt(&mut self, view: View<'_>) -> DeparseResult {
        match view {
            View::AlterEventTrigStmt(stmt) => self.alter_event_trig_stmt(stmt),
            View::AlterCollationStmt(stmt) => self.alter_collation_stmt(stmt),
            View::AlterDatabaseStmt(stmt) => self.alter_database_stmt(stmt),
            View::AlterDatabaseRefreshCollStmt(stmt) => self.alter_database_refresh_coll_stmt(stmt),
            View::AlterDatabaseSetStmt(stmt) => self.alter_database_set_stmt(stmt),
            View::AlterDefaultPrivilegesStmt(stmt) => self.alter_default_privileges_stmt(stmt),
            View::AlterDomainStmt(stmt) => self.alter_domain_stmt(stmt),
            View::AlterEnumStmt(stmt) => self.alter_enum_stmt(stmt),
            View::AlterExtensionStmt(stmt) => self.alter_extension_stmt(stmt),
            View::AlterExtensionContentsStmt(stmt) => self.alter_extension_contents_stmt(stmt),
            View::AlterFdwStmt(stmt) => self.alter_fdw_stmt(stmt),
            View::AlterForeignServerStmt(stmt) => self.alter_foreign_server_stmt(stmt),
            View::AlterFunctionStmt(stmt) => self.alter_function_stmt(stmt),
            View::AlterObjectDependsStmt(stmt) => self.alter_object_depends_stmt(stmt),
            View::AlterObjectSchemaStmt(stmt) => self.alter_object_schema_stmt(stmt),
            View::AlterOwnerStmt(stmt) => self.alter_owner_stmt(stmt),
            View::AlterOperatorStmt(stmt) => self.alter_operator_stmt(stmt),
            View::AlterTypeStmt(stmt) => self.alter_type_stmt(stmt),
            View::AlterPolicyStmt(stmt) => self.alter_policy_stmt(stmt),
            View::AlterSeqStmt(stmt) => self.alter_seq_stmt(stmt),
            View::AlterSystemStmt(stmt) => self.alter_system_stmt(stmt),
            View::AlterTableMoveAllStmt(stmt) => self.alter_table_move_all_stmt(stmt),
            View::AlterTableStmt(stmt) => self.alter_table_stmt(stmt),
            View::AlterTableSpaceOptionsStmt(stmt) => self.alter_table_space_options_stmt(stmt),
            View::AlterPublicationStmt(stmt) => self.alter_publication_stmt(stmt),
            View::AlterRoleSetStmt(stmt) => self.alter_role_set_stmt(stmt),
            View::AlterRoleStmt(stmt) => self.alter_role_stmt(stmt),
            View::AlterSubscriptionStmt(stmt) => self.alter_subscription_stmt(stmt),
            View::AlterStatsStmt(stmt) => self.alter_stats_stmt(stmt),
            View::AlterTSConfigurationStmt(stmt) => self.alter_ts_configuration_stmt(stmt),
            View::AlterTSDictionaryStmt(stmt) => self.alter_ts_dictionary_stmt(stmt),
            View::AlterUserMappingStmt(stmt) => self.alter_user_mapping_stmt(stmt),
            View::CallStmt(stmt) => self.call_stmt(stmt),
            View::CheckPointStmt(stmt) => self.check_point_stmt(stmt),
            View::ClosePortalStmt(stmt) => self.close_portal_stmt(stmt),
            View::ClusterStmt(stmt) => self.cluster_stmt(stmt),
            View::CommentStmt(stmt) => self.comment_stmt(stmt),
            View::ConstraintsSetStmt(stmt) => self.constraints_set_stmt(stmt),
            View::CopyStmt(stmt) => self.copy_stmt(stmt),
            View::CreateAmStmt(stmt) => self.create_am_stmt(stmt),
            View::CreateTableAsStmt(stmt) => self.create_table_as_stmt(stmt),
            View::CreateCastStmt(stmt) => self.create_cast_stmt(stmt),
            View::CreateConversionStmt(stmt) => self.create_conversion_stmt(stmt),
            View::CreateDomainStmt(stmt) => self.create_domain_stmt(stmt),
            View::CreateExtensionStmt(stmt) => self.create_extension_stmt(stmt),
            View::CreateFdwStmt(stmt) => self.create_fdw_stmt(stmt),
            View::CreateForeignServerStmt(stmt) => self.create_foreign_server_stmt(stmt),
            View::CreateForeignTableStmt(stmt) => self.create_foreign_table_stmt(stmt),
            View::CreateFunctionStmt(stmt) => self.create_function_stmt(stmt),
            View::CreateOpClassStmt(stmt) => self.create_op_class_stmt(stmt),
            View::CreateOpFamilyStmt(stmt) => self.create_op_family_stmt(stmt),
            View::CreatePublicationStmt(stmt) => self.create_publication_stmt(stmt),
            View::AlterOpFamilyStmt(stmt) => self.alter_op_family_stmt(stmt),
            View::CreatePolicyStmt(stmt) => self.create_policy_stmt(stmt),
            View::CreatePLangStmt(stmt) => self.create_p_lang_stmt(stmt),
            View::CreateSchemaStmt(stmt) => self.create_schema_stmt(stmt),
            View::CreateSeqStmt(stmt) => self.create_seq_stmt(stmt),
            View::CreateStmt(stmt) => self.create_stmt(stmt, false),
            View::CreateSubscriptionStmt(stmt) => self.create_subscription_stmt(stmt),
            View::CreateStatsStmt(stmt) => self.create_stats_stmt(stmt),
            View::CreateTableSpaceStmt(stmt) => self.create_table_space_stmt(stmt),
            View::CreateTransformStmt(stmt) => self.create_transform_stmt(stmt),
            View::CreateTrigStmt(stmt) => self.create_trig_stmt(stmt),
            View::CreateEventTrigStmt(stmt) => self.create_event_trig_stmt(stmt),
            View::CreateRoleStmt(stmt) => self.create_role_stmt(stmt),
            View::CreateUserMappingStmt(stmt) => self.create_user_mapping_stmt(stmt),
            View::CreatedbStmt(stmt) => self.createdb_stmt(stmt),
            View::DeallocateStmt(stmt) => self.deallocate_stmt(stmt),
            View::DeclareCursorStmt(stmt) => self.declare_cursor_stmt(stmt),
            View::DefineStmt(stmt) => self.define_stmt(stmt),
            View::DiscardStmt(stmt) => self.discard_stmt(stmt),
            View::DoStmt(stmt) => self.do_stmt(stmt),
            View::DropOwnedStmt(stmt) => self.drop_owned_stmt(stmt),
            View::DropStmt(stmt) => self.drop_stmt(stmt),
            View::DropSubscriptionStmt(stmt) => self.drop_subscription_stmt(stmt),
            View::DropTableSpaceStmt(stmt) => self.drop_table_space_stmt(stmt),
            View::DropRoleStmt(stmt) => self.drop_role_stmt(stmt),
            View::DropUserMappingStmt(stmt) => self.drop_user_mapping_stmt(stmt),
            View::DropdbStmt(stmt) => self.dropdb_stmt(stmt),
            View::ExecuteStmt(stmt) => self.execute_stmt(stmt),
            View::ExplainStmt(stmt) => self.explain_stmt(stmt),
            View::FetchStmt(stmt) => self.fetch_stmt(stmt),
            View::GrantStmt(stmt) => self.grant_stmt(stmt),
            View::GrantRoleStmt(stmt) => self.grant_role_stmt(stmt),
            View::ImportForeignSchemaStmt(stmt) => self.import_foreign_schema_stmt(stmt),
            View::IndexStmt(stmt) => self.index_stmt(stmt),
            View::ListenStmt(stmt) => self.listen_stmt(stmt),
            View::RefreshMatViewStmt(stmt) => self.refresh_mat_view_stmt(stmt),
            View::LoadStmt(stmt) => self.load_stmt(stmt),
            View::LockStmt(stmt) => self.lock_stmt(stmt),
            View::NotifyStmt(stmt) => self.notify_stmt(stmt),
            View::PrepareStmt(stmt) => self.prepare_stmt(stmt),
            View::ReassignOwnedStmt(stmt) => self.reassign_owned_stmt(stmt),
            View::ReindexStmt(stmt) => self.reindex_stmt(stmt),
            View::RenameStmt(stmt) => self.rename_stmt(stmt),
            View::RuleStmt(stmt) => self.rule_stmt(stmt),
            View::SecLabelStmt(stmt) => self.sec_label_stmt(stmt),
            View::TransactionStmt(stmt) => self.transaction_stmt(stmt),
            View::TruncateStmt(stmt) => self.truncate_stmt(stmt),
            View::UnlistenStmt(stmt) => self.unlisten_stmt(stmt),
            View::VacuumStmt(stmt) => self.vacuum_stmt(stmt),
            View::VariableSetStmt(stmt) => self.variable_set_stmt(stmt),
            View::VariableShowStmt(stmt) => self.variable_show_stmt(stmt),
            View::ViewStmt(stmt) => self.view_stmt(stmt),
            View::CompositeTypeStmt(stmt) => self.composite_type_stmt(stmt),
            View::CreateEnumStmt(stmt) => self.create_enum_stmt(stmt),
            View::CreateRangeStmt(stmt) => self.create_range_stmt(stmt),
            other => Err(DeparseError::misplaced(other.tag(), "a statement")),
        }
    }

    /// A statement in WITH, PREPARE or DECLARE.
    pub(super) fn preparable_stmt(&mut self, node: Option<Node<'_>>) -> DeparseResult {
        match required(node, "a query")?.view() {
            View::SelectStmt(stmt) => self.select_stmt(stmt, Context::None),
            View::InsertStmt(stmt) => self.insert_stmt(stmt),
            View::UpdateStmt(stmt) => self.update_stmt(stmt),
            View::DeleteStmt(stmt) => self.delete_stmt(stmt),
            View::MergeStmt(stmt) => self.merge_stmt(stmt),
            other => Err(DeparseError::misplaced(other.tag(), "a query")),
        }
    }

    /// A statement as the action of a rule.
    pub(super) fn rule_action_stmt(&mut self, node: Option<Node<'_>>) -> DeparseResult {
        match required(node, "the action of a rule")?.view() {
            View::SelectStmt(stmt) => self.select_stmt(stmt, Context::None),
            View::InsertStmt(stmt) => self.insert_stmt(stmt),
            View::UpdateStmt(stmt) => self.update_stmt(stmt),
            View::DeleteStmt(stmt) => self.delete_stmt(stmt),
            View::NotifyStmt(stmt) => self.notify_stmt(stmt),
            other => Err(DeparseError::misplaced(other.tag(), "the action of a rule")),
        }
    }

    /// A statement in EXPLAIN.
    pub(super) fn explainable_stmt(&mut self, node: Option<Node<'_>>) -> DeparseResult {
        match required(node, "the statement of EXPLAIN")?.view() {
            View::SelectStmt(stmt) => self.select_stmt(stmt, Context::None),
            View::InsertStmt(stmt) => self.insert_stmt(stmt),
            View::UpdateStmt(stmt) => self.update_stmt(stmt),
            View::DeleteStmt(stmt) => self.delete_stmt(stmt),
            View::DeclareCursorStmt(stmt) => self.declare_cursor_stmt(stmt),
            View::CreateTableAsStmt(stmt) => self.create_table_as_stmt(stmt),
            View::RefreshMatViewStmt(stmt) => self.refresh_mat_view_stmt(stmt),
            View::ExecuteStmt(stmt) => self.execute_stmt(stmt),
            View::MergeStmt(stmt) => self.merge_stmt(stmt),
            other => Err(DeparseError::misplaced(other.tag(), "the statement of EXPLAIN")),
        }
    }

    /// A statement in CREATE SCHEMA.
    pub(super) fn schema_stmt(&mut self, node: Option<Node<'_>>) -> DeparseResult {
        match required(node, "an element of a schema")?.view() {
            View::CreateStmt(stmt) => self.create_stmt(stmt, false),
            View::IndexStmt(stmt) => self.index_stmt(stmt),
            View::CreateSeqStmt(stmt) => self.create_seq_stmt(stmt),
            View::CreateTrigStmt(stmt) => self.create_trig_stmt(stmt),
            View::GrantStmt(stmt) => self.grant_stmt(stmt),
            View::ViewStmt(stmt) => self.view_stmt(stmt),
            other => Err(DeparseError::misplaced(other.tag(), "an element of a schema")),
        }
    }
}
