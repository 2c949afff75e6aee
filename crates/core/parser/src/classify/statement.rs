//! The class of each type of statement, without the nodes below it.

use super::kind::{Access, CopyDirection, Kind};
use super::touches::Touches;
use super::{Class, setting, transaction};
use crate::node::*;

/// DECLARE's option WITH HOLD: `CURSOR_OPT_HOLD` of `parsenodes.h`, a bit of the field `options`.
const CURSOR_HOLD: i32 = 0x0020;
/// The strongest lock that LOCK may take on a standby: `RowExclusiveLock` of PostgreSQL's `lockdefs.h`.
const ROW_EXCLUSIVE_LOCK: i32 = 3;

/// How much of the nodes below a statement is executed when the statement runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Execution {
    /// All of it.
    Full,
    /// It is only planned, as in EXPLAIN. This may call functions but changes nothing.
    PlanOnly,
    /// Nothing: the server only stores it, for later.
    Nothing,
}

/// The class of a statement by its own node, and how much of the nodes below it is executed.
///
/// Every statement of the grammar is named here. A statement of a later PostgreSQL is [`Kind::Unknown`] until
/// somebody has read its documentation: the test `every_statement_is_classified_on_purpose` finds it.
pub(super) fn class_of(statement: Node<'_>) -> (Class, Execution) {
    let read = |kind| Class::of(kind, Access::Read, Touches::NONE);
    let session = |kind, touches| Class::of(kind, Access::Session, touches);
    let class = match statement.view() {
        View::SelectStmt(_) => read(Kind::Select),
        View::InsertStmt(_) => Class::of(Kind::Insert, Access::Write, Touches::NONE),
        View::UpdateStmt(_) => Class::of(Kind::Update, Access::Write, Touches::NONE),
        View::DeleteStmt(_) => Class::of(Kind::Delete, Access::Write, Touches::NONE),
        View::MergeStmt(_) => Class::of(Kind::Merge, Access::Write, Touches::NONE),
        View::CopyStmt(copy) => copy_class(copy),
        View::TransactionStmt(stmt) => transaction::class(stmt),
        View::VariableSetStmt(stmt) => setting::class(stmt),
        View::VariableShowStmt(_) => Class::of(Kind::Show, Access::Read, Touches::SHOW),
        View::ConstraintsSetStmt(_) => session(Kind::SetConstraints, Touches::SET_CONSTRAINTS),
        View::ExplainStmt(explain) => return explain_class(explain),
        View::PrepareStmt(_) => return (session(Kind::Prepare, Touches::PREPARE), Execution::Nothing),
        // The statement that it runs was prepared before and is not in the text.
        View::ExecuteStmt(_) => Class::of(Kind::Execute, Access::Write, Touches::EXECUTE),
        View::DeallocateStmt(stmt) if stmt.isall() => session(Kind::Deallocate, Touches::DEALLOCATE_ALL),
        View::DeallocateStmt(_) => session(Kind::Deallocate, Touches::DEALLOCATE),
        View::DeclareCursorStmt(stmt) if stmt.options() & CURSOR_HOLD != 0 => {
            session(Kind::Declare, Touches::DECLARE_HOLD)
        }
        View::DeclareCursorStmt(_) => session(Kind::Declare, Touches::DECLARE),
        View::FetchStmt(_) => session(Kind::Fetch, Touches::FETCH),
        View::ClosePortalStmt(_) => session(Kind::Close, Touches::CLOSE),
        View::ListenStmt(_) => Class::of(Kind::Listen, Access::Maintain, Touches::LISTEN),
        View::UnlistenStmt(_) => session(Kind::Unlisten, Touches::UNLISTEN),
        View::NotifyStmt(_) => Class::of(Kind::Notify, Access::Maintain, Touches::NOTIFY),
        View::DiscardStmt(stmt) => session(Kind::Discard, discarded(stmt)),
        View::LockStmt(stmt) if stmt.mode() > ROW_EXCLUSIVE_LOCK => {
            Class::of(Kind::Lock, Access::Maintain, Touches::TABLE_LOCK)
        }
        View::LockStmt(_) => Class::of(Kind::Lock, Access::Read, Touches::TABLE_LOCK),
        View::DoStmt(_) => Class::of(Kind::Do, Access::Write, Touches::DO),
        View::CallStmt(_) => Class::of(Kind::Call, Access::Write, Touches::CALL),
        View::LoadStmt(_) => session(Kind::Load, Touches::LOAD),
        View::CheckPointStmt(_) => session(Kind::Checkpoint, Touches::NONE),
        View::VacuumStmt(stmt) => maintenance(stmt.is_vacuumcmd()),
        // Without a table it clusters all tables, each in its own transaction.
        View::ClusterStmt(stmt) => maintenance(stmt.relation().is_none()),
        View::ReindexStmt(stmt) => maintenance(reindex_needs_no_block(stmt)),
        View::TruncateStmt(_) => Class::of(Kind::Truncate, Access::Write, Touches::NONE),
        _ => return definition(statement),
    };
    (class, Execution::Full)
}

/// The class of a statement that changes definitions.
// tidy: long because it names every statement of this kind, so that none is forgotten
fn definition(statement: Node<'_>) -> (Class, Execution) {
    let (touches, execution) = match statement.view() {
        // The server only stores what these contain.
        View::CreateFunctionStmt(_)
        | View::RuleStmt(_)
        | View::ViewStmt(_)
        | View::CreatePolicyStmt(_)
        | View::AlterPolicyStmt(_)
        | View::CreateTrigStmt(_) => (Touches::NONE, Execution::Nothing),
        View::CreatedbStmt(_)
        | View::DropdbStmt(_)
        | View::CreateTableSpaceStmt(_)
        | View::DropTableSpaceStmt(_)
        | View::CreateSubscriptionStmt(_)
        | View::AlterSubscriptionStmt(_)
        | View::DropSubscriptionStmt(_) => (Touches::NO_BLOCK, Execution::Full),
        View::AlterSystemStmt(_) => (Touches::NO_BLOCK | Touches::DEFAULTS, Execution::Full),
        View::AlterRoleSetStmt(_) | View::AlterDatabaseSetStmt(_) => (Touches::DEFAULTS, Execution::Full),
        // ALTER DATABASE .. SET TABLESPACE has only this one option.
        View::AlterDatabaseStmt(stmt) => {
            (no_block_if(names_option(stmt.options(), "tablespace")), Execution::Full)
        }
        View::IndexStmt(stmt) => (no_block_if(stmt.concurrent()), Execution::Full),
        View::DropStmt(stmt) => (no_block_if(stmt.concurrent()), Execution::Full),
        View::AlterTableStmt(stmt) => (no_block_if(detaches_concurrently(stmt)), Execution::Full),
        View::AlterEnumStmt(_)
        | View::AlterCollationStmt(_)
        | View::AlterDatabaseRefreshCollStmt(_)
        | View::AlterDefaultPrivilegesStmt(_)
        | View::AlterDomainStmt(_)
        | View::AlterEventTrigStmt(_)
        | View::AlterExtensionContentsStmt(_)
        | View::AlterExtensionStmt(_)
        | View::AlterFdwStmt(_)
        | View::AlterForeignServerStmt(_)
        | View::AlterFunctionStmt(_)
        | View::AlterObjectDependsStmt(_)
        | View::AlterObjectSchemaStmt(_)
        | View::AlterOpFamilyStmt(_)
        | View::AlterOperatorStmt(_)
        | View::AlterOwnerStmt(_)
        | View::AlterPublicationStmt(_)
        | View::AlterRoleStmt(_)
        | View::AlterSeqStmt(_)
        | View::AlterStatsStmt(_)
        | View::AlterTSConfigurationStmt(_)
        | View::AlterTSDictionaryStmt(_)
        | View::AlterTableMoveAllStmt(_)
        | View::AlterTableSpaceOptionsStmt(_)
        | View::AlterTypeStmt(_)
        | View::AlterUserMappingStmt(_)
        | View::CommentStmt(_)
        | View::CompositeTypeStmt(_)
        | View::CreateAmStmt(_)
        | View::CreateCastStmt(_)
        | View::CreateConversionStmt(_)
        | View::CreateDomainStmt(_)
        | View::CreateEnumStmt(_)
        | View::CreateEventTrigStmt(_)
        | View::CreateExtensionStmt(_)
        | View::CreateFdwStmt(_)
        | View::CreateForeignServerStmt(_)
        | View::CreateForeignTableStmt(_)
        | View::CreateOpClassStmt(_)
        | View::CreateOpFamilyStmt(_)
        | View::CreatePLangStmt(_)
        | View::CreatePublicationStmt(_)
        | View::CreateRangeStmt(_)
        | View::CreateRoleStmt(_)
        | View::CreateSchemaStmt(_)
        | View::CreateSeqStmt(_)
        | View::CreateStatsStmt(_)
        | View::CreateStmt(_)
        | View::CreateTableAsStmt(_)
        | View::CreateTransformStmt(_)
        | View::CreateUserMappingStmt(_)
        | View::DefineStmt(_)
        | View::DropOwnedStmt(_)
        | View::DropRoleStmt(_)
        | View::DropUserMappingStmt(_)
        | View::GrantRoleStmt(_)
        | View::GrantStmt(_)
        | View::ImportForeignSchemaStmt(_)
        | View::ReassignOwnedStmt(_)
        | View::RefreshMatViewStmt(_)
        | View::RenameStmt(_)
        | View::SecLabelStmt(_) => (Touches::NONE, Execution::Full),
        _ => return (Class::UNKNOWN.one(), Execution::Full),
    };
    (Class::of(Kind::Definition, Access::Write, touches | Touches::SCHEMA), execution)
}

fn no_block_if(condition: bool) -> Touches {
    if condition { Touches::NO_BLOCK } else { Touches::NONE }
}

fn maintenance(needs_no_block: bool) -> Class {
    Class::of(Kind::Maintenance, Access::Maintain, no_block_if(needs_no_block))
}

fn copy_class(copy: CopyStmt<'_>) -> Class {
    let access = if copy.is_from() { Access::Write } else { Access::Read };
    let way = match (copy.is_from(), copy.filename(), copy.is_program()) {
        (true, None, _) => CopyDirection::FromClient,
        (true, Some(_), false) => CopyDirection::FromFile,
        (true, Some(_), true) => CopyDirection::FromProgram,
        (false, None, _) => CopyDirection::ToClient,
        (false, Some(_), false) => CopyDirection::ToFile,
        (false, Some(_), true) => CopyDirection::ToProgram,
    };
    Class { copy: Some(way), ..Class::of(Kind::Copy, access, Touches::COPY) }
}

/// The class of EXPLAIN. It changes something only with ANALYZE.
fn explain_class(explain: ExplainStmt<'_>) -> (Class, Execution) {
    let options = explain.options().nodes().filter_map(|option| option.cast::<DefElem<'_>>());
    // ANALYZE may be given several times, and the last one counts. To be safe, any one is enough here.
    let analyzes = options.clone().any(|option| option.defname() == Some("analyze") && is_on(option));
    if !analyzes {
        return (Class::of(Kind::Explain, Access::Read, Touches::NONE), Execution::PlanOnly);
    }
    // This depends on the explained node itself: it may contain a query whose nodes do not show that it writes.
    let access = match explain.query().map(Node::tag) {
        Some(NodeTag::SelectStmt | NodeTag::DeclareCursorStmt) => Access::Read,
        _ => Access::Write,
    };
    (Class::of(Kind::Explain, access, Touches::EXPLAIN_ANALYZE), Execution::Full)
}

/// Whether a Boolean option is not clearly false. EXPLAIN is never cached by a key without literals, so the values of
/// literals may count here.
fn is_on(option: DefElem<'_>) -> bool {
    match option.arg().map(Node::view) {
        Some(View::Integer(value)) => value.ival() != 0,
        Some(View::String(value)) => {
            !["false", "off"].iter().any(|off| value.sval().eq_ignore_ascii_case(off))
        }
        Some(View::Boolean(value)) => value.boolval(),
        _ => true,
    }
}

fn discarded(stmt: DiscardStmt<'_>) -> Touches {
    match stmt.target() {
        DiscardMode::DiscardAll => Touches::DISCARD_ALL | Touches::NO_BLOCK,
        DiscardMode::DiscardPlans => Touches::DISCARD_PLANS,
        DiscardMode::DiscardSequences => Touches::DISCARD_SEQUENCES,
        DiscardMode::DiscardTemp => Touches::DISCARD_TEMP,
    }
}

fn names_option(options: List<'_>, name: &str) -> bool {
    options.nodes().any(|option| {
        option.cast::<DefElem<'_>>().and_then(DefElem::defname).is_some_and(|found| found == name)
    })
}

fn reindex_needs_no_block(stmt: ReindexStmt<'_>) -> bool {
    let is_alone = match stmt.kind() {
        ReindexObjectType::ReindexObjectIndex | ReindexObjectType::ReindexObjectTable => false,
        ReindexObjectType::ReindexObjectSchema
        | ReindexObjectType::ReindexObjectSystem
        | ReindexObjectType::ReindexObjectDatabase => true,
    };
    is_alone || names_option(stmt.params(), "concurrently")
}

fn detaches_concurrently(stmt: AlterTableStmt<'_>) -> bool {
    stmt.cmds().nodes().any(|command| {
        let definition = command.cast::<AlterTableCmd<'_>>().and_then(AlterTableCmd::def);
        definition.and_then(|node| node.cast::<PartitionCmd<'_>>()).is_some_and(PartitionCmd::concurrent)
    })
}
