//! Rules that are still to be written: whoever writes one takes it out of here.
#![allow(dead_code)]

use super::context::Context;
use super::{DeparseError, Deparser, Done};
use crate::node::*;

fn pending(rule: &str) -> Done {
    Err(DeparseError::new(format!("{rule} is still to be written")))
}

impl Deparser<'_> {
    /// deparseFuncExpr
    pub(super) fn func_expr(&mut self, _: Option<Node<'_>>, _: Context) -> Done {
        pending("func_expr")
    }

    /// deparseExpr
    pub(super) fn expr(&mut self, _: Option<Node<'_>>, _: Context) -> Done {
        pending("expr")
    }

    /// deparseBExpr
    pub(super) fn b_expr(&mut self, _: Option<Node<'_>>) -> Done {
        pending("b_expr")
    }

    /// deparseAexprConst
    pub(super) fn aexpr_const(&mut self, _: Option<Node<'_>>) -> Done {
        pending("aexpr_const")
    }

    /// deparseCExpr
    pub(super) fn c_expr(&mut self, _: Option<Node<'_>>) -> Done {
        pending("c_expr")
    }

    /// deparseExprList
    pub(super) fn expr_list(&mut self, _: List<'_>) -> Done {
        pending("expr_list")
    }

    /// deparseSignedIconst
    pub(super) fn signed_iconst(&mut self, _: Option<Node<'_>>) -> Done {
        pending("signed_iconst")
    }

    /// deparseOptIndirection
    pub(super) fn opt_indirection(&mut self, _: List<'_>, _: i32) -> Done {
        pending("opt_indirection")
    }

    /// deparseRoleList
    pub(super) fn role_list(&mut self, _: List<'_>) -> Done {
        pending("role_list")
    }

    /// deparseSimpleTypename
    pub(super) fn simple_typename(&mut self, _: Option<Node<'_>>) -> Done {
        pending("simple_typename")
    }

    /// deparseNumericOnly
    pub(super) fn numeric_only(&mut self, _: Node<'_>) -> Done {
        pending("numeric_only")
    }

    /// deparseNumericOnlyList
    pub(super) fn numeric_only_list(&mut self, _: List<'_>) -> Done {
        pending("numeric_only_list")
    }

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

    /// deparseAnyOperator
    pub(super) fn any_operator(&mut self, _: List<'_>) -> Done {
        pending("any_operator")
    }

    /// deparseQualOp
    pub(super) fn qual_op(&mut self, _: List<'_>) -> Done {
        pending("qual_op")
    }

    /// deparseSubqueryOp
    pub(super) fn subquery_op(&mut self, _: List<'_>) -> Done {
        pending("subquery_op")
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

    /// deparseXmlAttributeList
    pub(super) fn xml_attribute_list(&mut self, _: List<'_>) -> Done {
        pending("xml_attribute_list")
    }

    /// deparseXmlNamespaceList
    pub(super) fn xml_namespace_list(&mut self, _: List<'_>) -> Done {
        pending("xml_namespace_list")
    }

    /// deparseOptSortClause
    pub(super) fn opt_sort_clause(&mut self, _: List<'_>, _: Context) -> Done {
        pending("opt_sort_clause")
    }

    /// deparseFuncArgExpr
    pub(super) fn func_arg_expr(&mut self, _: Option<Node<'_>>) -> Done {
        pending("func_arg_expr")
    }

    /// deparseFuncExprWindowless
    pub(super) fn func_expr_windowless(&mut self, _: Option<Node<'_>>) -> Done {
        pending("func_expr_windowless")
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

    /// deparseAConst
    pub(super) fn a_const(&mut self, _: AConst<'_>) -> Done {
        pending("a_const")
    }

    /// deparseFuncCall
    pub(super) fn func_call(&mut self, _: FuncCall<'_>) -> Done {
        pending("func_call")
    }

    /// deparseWindowDef
    pub(super) fn window_def(&mut self, _: WindowDef<'_>) -> Done {
        pending("window_def")
    }

    /// deparseColumnRef
    pub(super) fn column_ref(&mut self, _: ColumnRef<'_>) -> Done {
        pending("column_ref")
    }

    /// deparseSubLink
    pub(super) fn sub_link(&mut self, _: SubLink<'_>) -> Done {
        pending("sub_link")
    }

    /// deparseAExpr
    pub(super) fn a_expr(&mut self, _: AExpr<'_>, _: Context) -> Done {
        pending("a_expr")
    }

    /// deparseBoolExpr
    pub(super) fn bool_expr(&mut self, _: BoolExpr<'_>) -> Done {
        pending("bool_expr")
    }

    /// deparseAStar
    pub(super) fn a_star(&mut self, _: AStar<'_>) -> Done {
        pending("a_star")
    }

    /// deparseCollateClause
    pub(super) fn collate_clause(&mut self, _: CollateClause<'_>) -> Done {
        pending("collate_clause")
    }

    /// deparseSortBy
    pub(super) fn sort_by(&mut self, _: SortBy<'_>) -> Done {
        pending("sort_by")
    }

    /// deparseParamRef
    pub(super) fn param_ref(&mut self, _: ParamRef<'_>) -> Done {
        pending("param_ref")
    }

    /// deparseSQLValueFunction
    pub(super) fn sql_value_function(&mut self, _: SQLValueFunction<'_>) -> Done {
        pending("sql_value_function")
    }

    /// deparseRangeFunction
    pub(super) fn range_function(&mut self, _: RangeFunction<'_>) -> Done {
        pending("range_function")
    }

    /// deparseAArrayExpr
    pub(super) fn a_array_expr(&mut self, _: AArrayExpr<'_>) -> Done {
        pending("a_array_expr")
    }

    /// deparseRowExpr
    pub(super) fn row_expr(&mut self, _: RowExpr<'_>) -> Done {
        pending("row_expr")
    }

    /// deparseTypeCast
    pub(super) fn type_cast(&mut self, _: TypeCast<'_>, _: Context) -> Done {
        pending("type_cast")
    }

    /// deparseTypeName
    pub(super) fn type_name(&mut self, _: TypeName<'_>) -> Done {
        pending("type_name")
    }

    /// deparseIntervalTypmods
    pub(super) fn interval_typmods(&mut self, _: TypeName<'_>) -> Done {
        pending("interval_typmods")
    }

    /// deparseNullTest
    pub(super) fn null_test(&mut self, _: NullTest<'_>) -> Done {
        pending("null_test")
    }

    /// deparseCaseExpr
    pub(super) fn case_expr(&mut self, _: CaseExpr<'_>) -> Done {
        pending("case_expr")
    }

    /// deparseCaseWhen
    pub(super) fn case_when(&mut self, _: CaseWhen<'_>) -> Done {
        pending("case_when")
    }

    /// deparseAIndirection
    pub(super) fn a_indirection(&mut self, _: AIndirection<'_>) -> Done {
        pending("a_indirection")
    }

    /// deparseAIndices
    pub(super) fn a_indices(&mut self, _: AIndices<'_>) -> Done {
        pending("a_indices")
    }

    /// deparseCoalesceExpr
    pub(super) fn coalesce_expr(&mut self, _: CoalesceExpr<'_>) -> Done {
        pending("coalesce_expr")
    }

    /// deparseMinMaxExpr
    pub(super) fn min_max_expr(&mut self, _: MinMaxExpr<'_>) -> Done {
        pending("min_max_expr")
    }

    /// deparseBooleanTest
    pub(super) fn boolean_test(&mut self, _: BooleanTest<'_>) -> Done {
        pending("boolean_test")
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

    /// deparseCopyStmt
    pub(super) fn copy_stmt(&mut self, _: CopyStmt<'_>) -> Done {
        pending("copy_stmt")
    }

    /// deparseDoStmt
    pub(super) fn do_stmt(&mut self, _: DoStmt<'_>) -> Done {
        pending("do_stmt")
    }

    /// deparseDiscardStmt
    pub(super) fn discard_stmt(&mut self, _: DiscardStmt<'_>) -> Done {
        pending("discard_stmt")
    }

    /// deparseDefineStmt
    pub(super) fn define_stmt(&mut self, _: DefineStmt<'_>) -> Done {
        pending("define_stmt")
    }

    /// deparseCompositeTypeStmt
    pub(super) fn composite_type_stmt(&mut self, _: CompositeTypeStmt<'_>) -> Done {
        pending("composite_type_stmt")
    }

    /// deparseCreateEnumStmt
    pub(super) fn create_enum_stmt(&mut self, _: CreateEnumStmt<'_>) -> Done {
        pending("create_enum_stmt")
    }

    /// deparseCreateRangeStmt
    pub(super) fn create_range_stmt(&mut self, _: CreateRangeStmt<'_>) -> Done {
        pending("create_range_stmt")
    }

    /// deparseAlterEnumStmt
    pub(super) fn alter_enum_stmt(&mut self, _: AlterEnumStmt<'_>) -> Done {
        pending("alter_enum_stmt")
    }

    /// deparseAlterExtensionStmt
    pub(super) fn alter_extension_stmt(&mut self, _: AlterExtensionStmt<'_>) -> Done {
        pending("alter_extension_stmt")
    }

    /// deparseAlterExtensionContentsStmt
    pub(super) fn alter_extension_contents_stmt(&mut self, _: AlterExtensionContentsStmt<'_>) -> Done {
        pending("alter_extension_contents_stmt")
    }

    /// deparseAccessPriv
    pub(super) fn access_priv(&mut self, _: AccessPriv<'_>) -> Done {
        pending("access_priv")
    }

    /// deparseGrantStmt
    pub(super) fn grant_stmt(&mut self, _: GrantStmt<'_>) -> Done {
        pending("grant_stmt")
    }

    /// deparseGrantRoleStmt
    pub(super) fn grant_role_stmt(&mut self, _: GrantRoleStmt<'_>) -> Done {
        pending("grant_role_stmt")
    }

    /// deparseDropRoleStmt
    pub(super) fn drop_role_stmt(&mut self, _: DropRoleStmt<'_>) -> Done {
        pending("drop_role_stmt")
    }

    /// deparseIndexStmt
    pub(super) fn index_stmt(&mut self, _: IndexStmt<'_>) -> Done {
        pending("index_stmt")
    }

    /// deparseAlterOpFamilyStmt
    pub(super) fn alter_op_family_stmt(&mut self, _: AlterOpFamilyStmt<'_>) -> Done {
        pending("alter_op_family_stmt")
    }

    /// deparseAlterRoleElem
    pub(super) fn alter_role_elem(&mut self, _: DefElem<'_>) -> Done {
        pending("alter_role_elem")
    }

    /// deparseCreateRoleElem
    pub(super) fn create_role_elem(&mut self, _: DefElem<'_>) -> Done {
        pending("create_role_elem")
    }

    /// deparseCreatePLangStmt
    pub(super) fn create_p_lang_stmt(&mut self, _: CreatePLangStmt<'_>) -> Done {
        pending("create_p_lang_stmt")
    }

    /// deparseCreateRoleStmt
    pub(super) fn create_role_stmt(&mut self, _: CreateRoleStmt<'_>) -> Done {
        pending("create_role_stmt")
    }

    /// deparseAlterRoleStmt
    pub(super) fn alter_role_stmt(&mut self, _: AlterRoleStmt<'_>) -> Done {
        pending("alter_role_stmt")
    }

    /// deparseDeclareCursorStmt
    pub(super) fn declare_cursor_stmt(&mut self, _: DeclareCursorStmt<'_>) -> Done {
        pending("declare_cursor_stmt")
    }

    /// deparseFetchStmt
    pub(super) fn fetch_stmt(&mut self, _: FetchStmt<'_>) -> Done {
        pending("fetch_stmt")
    }

    /// deparseAlterDefaultPrivilegesStmt
    pub(super) fn alter_default_privileges_stmt(&mut self, _: AlterDefaultPrivilegesStmt<'_>) -> Done {
        pending("alter_default_privileges_stmt")
    }

    /// deparseReindexStmt
    pub(super) fn reindex_stmt(&mut self, _: ReindexStmt<'_>) -> Done {
        pending("reindex_stmt")
    }

    /// deparseRuleStmt
    pub(super) fn rule_stmt(&mut self, _: RuleStmt<'_>) -> Done {
        pending("rule_stmt")
    }

    /// deparseNotifyStmt
    pub(super) fn notify_stmt(&mut self, _: NotifyStmt<'_>) -> Done {
        pending("notify_stmt")
    }

    /// deparseListenStmt
    pub(super) fn listen_stmt(&mut self, _: ListenStmt<'_>) -> Done {
        pending("listen_stmt")
    }

    /// deparseUnlistenStmt
    pub(super) fn unlisten_stmt(&mut self, _: UnlistenStmt<'_>) -> Done {
        pending("unlisten_stmt")
    }

    /// deparseCreateSeqStmt
    pub(super) fn create_seq_stmt(&mut self, _: CreateSeqStmt<'_>) -> Done {
        pending("create_seq_stmt")
    }

    /// deparseAlterFunctionStmt
    pub(super) fn alter_function_stmt(&mut self, _: AlterFunctionStmt<'_>) -> Done {
        pending("alter_function_stmt")
    }

    /// deparseTruncateStmt
    pub(super) fn truncate_stmt(&mut self, _: TruncateStmt<'_>) -> Done {
        pending("truncate_stmt")
    }

    /// deparseCreateEventTrigStmt
    pub(super) fn create_event_trig_stmt(&mut self, _: CreateEventTrigStmt<'_>) -> Done {
        pending("create_event_trig_stmt")
    }

    /// deparseAlterEventTrigStmt
    pub(super) fn alter_event_trig_stmt(&mut self, _: AlterEventTrigStmt<'_>) -> Done {
        pending("alter_event_trig_stmt")
    }

    /// deparseRefreshMatViewStmt
    pub(super) fn refresh_mat_view_stmt(&mut self, _: RefreshMatViewStmt<'_>) -> Done {
        pending("refresh_mat_view_stmt")
    }

    /// deparseReplicaIdentityStmt
    pub(super) fn replica_identity_stmt(&mut self, _: ReplicaIdentityStmt<'_>) -> Done {
        pending("replica_identity_stmt")
    }

    /// deparseCreatePolicyStmt
    pub(super) fn create_policy_stmt(&mut self, _: CreatePolicyStmt<'_>) -> Done {
        pending("create_policy_stmt")
    }

    /// deparseAlterPolicyStmt
    pub(super) fn alter_policy_stmt(&mut self, _: AlterPolicyStmt<'_>) -> Done {
        pending("alter_policy_stmt")
    }

    /// deparseCreateTableSpaceStmt
    pub(super) fn create_table_space_stmt(&mut self, _: CreateTableSpaceStmt<'_>) -> Done {
        pending("create_table_space_stmt")
    }

    /// deparseCreateTransformStmt
    pub(super) fn create_transform_stmt(&mut self, _: CreateTransformStmt<'_>) -> Done {
        pending("create_transform_stmt")
    }

    /// deparseCreateAmStmt
    pub(super) fn create_am_stmt(&mut self, _: CreateAmStmt<'_>) -> Done {
        pending("create_am_stmt")
    }

    /// deparsePublicationObjectList
    pub(super) fn publication_object_list(&mut self, _: List<'_>) -> Done {
        pending("publication_object_list")
    }

    /// deparseCreatePublicationStmt
    pub(super) fn create_publication_stmt(&mut self, _: CreatePublicationStmt<'_>) -> Done {
        pending("create_publication_stmt")
    }

    /// deparseAlterPublicationStmt
    pub(super) fn alter_publication_stmt(&mut self, _: AlterPublicationStmt<'_>) -> Done {
        pending("alter_publication_stmt")
    }

    /// deparseAlterSeqStmt
    pub(super) fn alter_seq_stmt(&mut self, _: AlterSeqStmt<'_>) -> Done {
        pending("alter_seq_stmt")
    }

    /// deparseAlterSystemStmt
    pub(super) fn alter_system_stmt(&mut self, _: AlterSystemStmt<'_>) -> Done {
        pending("alter_system_stmt")
    }

    /// deparseCommentStmt
    pub(super) fn comment_stmt(&mut self, _: CommentStmt<'_>) -> Done {
        pending("comment_stmt")
    }

    /// deparseStatsElem
    pub(super) fn stats_elem(&mut self, _: StatsElem<'_>) -> Done {
        pending("stats_elem")
    }

    /// deparseCreateStatsStmt
    pub(super) fn create_stats_stmt(&mut self, _: CreateStatsStmt<'_>) -> Done {
        pending("create_stats_stmt")
    }

    /// deparseAlterCollationStmt
    pub(super) fn alter_collation_stmt(&mut self, _: AlterCollationStmt<'_>) -> Done {
        pending("alter_collation_stmt")
    }

    /// deparseAlterDatabaseStmt
    pub(super) fn alter_database_stmt(&mut self, _: AlterDatabaseStmt<'_>) -> Done {
        pending("alter_database_stmt")
    }

    /// deparseAlterDatabaseSetStmt
    pub(super) fn alter_database_set_stmt(&mut self, _: AlterDatabaseSetStmt<'_>) -> Done {
        pending("alter_database_set_stmt")
    }

    /// deparseAlterStatsStmt
    pub(super) fn alter_stats_stmt(&mut self, _: AlterStatsStmt<'_>) -> Done {
        pending("alter_stats_stmt")
    }

    /// deparseAlterTSDictionaryStmt
    pub(super) fn alter_ts_dictionary_stmt(&mut self, _: AlterTSDictionaryStmt<'_>) -> Done {
        pending("alter_ts_dictionary_stmt")
    }

    /// deparseAlterTSConfigurationStmt
    pub(super) fn alter_ts_configuration_stmt(&mut self, _: AlterTSConfigurationStmt<'_>) -> Done {
        pending("alter_ts_configuration_stmt")
    }

    /// deparseVariableShowStmt
    pub(super) fn variable_show_stmt(&mut self, _: VariableShowStmt<'_>) -> Done {
        pending("variable_show_stmt")
    }

    /// deparseRangeTableSample
    pub(super) fn range_table_sample(&mut self, _: RangeTableSample<'_>) -> Done {
        pending("range_table_sample")
    }

    /// deparseCreateSubscriptionStmt
    pub(super) fn create_subscription_stmt(&mut self, _: CreateSubscriptionStmt<'_>) -> Done {
        pending("create_subscription_stmt")
    }

    /// deparseAlterSubscriptionStmt
    pub(super) fn alter_subscription_stmt(&mut self, _: AlterSubscriptionStmt<'_>) -> Done {
        pending("alter_subscription_stmt")
    }

    /// deparseDropSubscriptionStmt
    pub(super) fn drop_subscription_stmt(&mut self, _: DropSubscriptionStmt<'_>) -> Done {
        pending("drop_subscription_stmt")
    }

    /// deparseCallStmt
    pub(super) fn call_stmt(&mut self, _: CallStmt<'_>) -> Done {
        pending("call_stmt")
    }

    /// deparseAlterOwnerStmt
    pub(super) fn alter_owner_stmt(&mut self, _: AlterOwnerStmt<'_>) -> Done {
        pending("alter_owner_stmt")
    }

    /// deparseOperatorDefList
    pub(super) fn operator_def_list(&mut self, _: List<'_>) -> Done {
        pending("operator_def_list")
    }

    /// deparseAlterOperatorStmt
    pub(super) fn alter_operator_stmt(&mut self, _: AlterOperatorStmt<'_>) -> Done {
        pending("alter_operator_stmt")
    }

    /// deparseAlterTypeStmt
    pub(super) fn alter_type_stmt(&mut self, _: AlterTypeStmt<'_>) -> Done {
        pending("alter_type_stmt")
    }

    /// deparseDropOwnedStmt
    pub(super) fn drop_owned_stmt(&mut self, _: DropOwnedStmt<'_>) -> Done {
        pending("drop_owned_stmt")
    }

    /// deparseReassignOwnedStmt
    pub(super) fn reassign_owned_stmt(&mut self, _: ReassignOwnedStmt<'_>) -> Done {
        pending("reassign_owned_stmt")
    }

    /// deparseClosePortalStmt
    pub(super) fn close_portal_stmt(&mut self, _: ClosePortalStmt<'_>) -> Done {
        pending("close_portal_stmt")
    }

    /// deparseCreateTrigStmt
    pub(super) fn create_trig_stmt(&mut self, _: CreateTrigStmt<'_>) -> Done {
        pending("create_trig_stmt")
    }

    /// deparseTriggerTransition
    pub(super) fn trigger_transition(&mut self, _: TriggerTransition<'_>) -> Done {
        pending("trigger_transition")
    }

    /// deparseXmlExpr
    pub(super) fn xml_expr(&mut self, _: XmlExpr<'_>, _: Context) -> Done {
        pending("xml_expr")
    }

    /// deparseRangeTableFuncCol
    pub(super) fn range_table_func_col(&mut self, _: RangeTableFuncCol<'_>) -> Done {
        pending("range_table_func_col")
    }

    /// deparseRangeTableFunc
    pub(super) fn range_table_func(&mut self, _: RangeTableFunc<'_>) -> Done {
        pending("range_table_func")
    }

    /// deparseXmlSerialize
    pub(super) fn xml_serialize(&mut self, _: XmlSerialize<'_>) -> Done {
        pending("xml_serialize")
    }

    /// deparseJsonFormat
    pub(super) fn json_format(&mut self, _: JsonFormat<'_>) -> Done {
        pending("json_format")
    }

    /// deparseJsonIsPredicate
    pub(super) fn json_is_predicate(&mut self, _: JsonIsPredicate<'_>) -> Done {
        pending("json_is_predicate")
    }

    /// deparseJsonValueExpr
    pub(super) fn json_value_expr(&mut self, _: JsonValueExpr<'_>) -> Done {
        pending("json_value_expr")
    }

    /// deparseJsonValueExprList
    pub(super) fn json_value_expr_list(&mut self, _: List<'_>) -> Done {
        pending("json_value_expr_list")
    }

    /// deparseJsonKeyValue
    pub(super) fn json_key_value(&mut self, _: JsonKeyValue<'_>) -> Done {
        pending("json_key_value")
    }

    /// deparseJsonKeyValueList
    pub(super) fn json_key_value_list(&mut self, _: List<'_>) -> Done {
        pending("json_key_value_list")
    }

    /// deparseJsonOutput
    pub(super) fn json_output(&mut self, _: JsonOutput<'_>) -> Done {
        pending("json_output")
    }

    /// deparseJsonObjectAgg
    pub(super) fn json_object_agg(&mut self, _: JsonObjectAgg<'_>) -> Done {
        pending("json_object_agg")
    }

    /// deparseJsonArrayAgg
    pub(super) fn json_array_agg(&mut self, _: JsonArrayAgg<'_>) -> Done {
        pending("json_array_agg")
    }

    /// deparseJsonObjectConstructor
    pub(super) fn json_object_constructor(&mut self, _: JsonObjectConstructor<'_>) -> Done {
        pending("json_object_constructor")
    }

    /// deparseJsonArrayConstructor
    pub(super) fn json_array_constructor(&mut self, _: JsonArrayConstructor<'_>) -> Done {
        pending("json_array_constructor")
    }

    /// deparseJsonArrayQueryConstructor
    pub(super) fn json_array_query_constructor(&mut self, _: JsonArrayQueryConstructor<'_>) -> Done {
        pending("json_array_query_constructor")
    }

    /// deparseJsonParseExpr
    pub(super) fn json_parse_expr(&mut self, _: JsonParseExpr<'_>) -> Done {
        pending("json_parse_expr")
    }

    /// deparseJsonScalarExpr
    pub(super) fn json_scalar_expr(&mut self, _: JsonScalarExpr<'_>) -> Done {
        pending("json_scalar_expr")
    }

    /// deparseJsonSerializeExpr
    pub(super) fn json_serialize_expr(&mut self, _: JsonSerializeExpr<'_>) -> Done {
        pending("json_serialize_expr")
    }

    /// deparseJsonQuotesClauseOpt
    pub(super) fn json_quotes_clause_opt(&mut self, _: JsonQuotes) -> Done {
        pending("json_quotes_clause_opt")
    }

    /// deparseJsonOnErrorClauseOpt
    pub(super) fn json_on_error_clause_opt(&mut self, _: JsonBehavior<'_>) -> Done {
        pending("json_on_error_clause_opt")
    }

    /// deparseJsonOnEmptyClauseOpt
    pub(super) fn json_on_empty_clause_opt(&mut self, _: JsonBehavior<'_>) -> Done {
        pending("json_on_empty_clause_opt")
    }

    /// deparseJsonFuncExpr
    pub(super) fn json_func_expr(&mut self, _: JsonFuncExpr<'_>) -> Done {
        pending("json_func_expr")
    }

    /// deparseJsonTablePathSpec
    pub(super) fn json_table_path_spec(&mut self, _: JsonTablePathSpec<'_>) -> Done {
        pending("json_table_path_spec")
    }

    /// deparseJsonBehavior
    pub(super) fn json_behavior(&mut self, _: JsonBehavior<'_>) -> Done {
        pending("json_behavior")
    }

    /// deparseJsonTableColumn
    pub(super) fn json_table_column(&mut self, _: JsonTableColumn<'_>) -> Done {
        pending("json_table_column")
    }

    /// deparseJsonTableColumns
    pub(super) fn json_table_columns(&mut self, _: List<'_>) -> Done {
        pending("json_table_columns")
    }

    /// deparseJsonTable
    pub(super) fn json_table(&mut self, _: JsonTable<'_>) -> Done {
        pending("json_table")
    }

    /// deparseGroupingFunc
    pub(super) fn grouping_func(&mut self, _: GroupingFunc<'_>) -> Done {
        pending("grouping_func")
    }

    /// deparseClusterStmt
    pub(super) fn cluster_stmt(&mut self, _: ClusterStmt<'_>) -> Done {
        pending("cluster_stmt")
    }

    /// deparseValue
    pub(super) fn value(&mut self, _: Node<'_>, _: Context) -> Done {
        pending("value")
    }
}
