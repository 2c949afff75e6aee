//! What each type of statement is by itself, before one looks at what it is made of.

use super::kind::{Access, CopyWay, Kind};
use super::touches::Touches;
use super::{Class, setting, transaction};
use crate::node::*;

/// DECLARE's option WITH HOLD: `CURSOR_OPT_HOLD` of `parsenodes.h`, a bit of the field `options`.
const CURSOR_HOLD: i32 = 0x0020;
/// The strongest lock that LOCK may take on a standby: `RowExclusiveLock` of PostgreSQL's `lockdefs.h`.
const ROW_EXCLUSIVE_LOCK: i32 = 3;

/// How much of what hangs below a statement happens when the statement runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Runs {
    /// All.
    All,
    /// It is planned, which may call functions but changes nothing: EXPLAIN.
    Planned,
    /// Nothing: it is written down for later.
    Nothing,
}

/// The class of a statement by its own node, and how much of what is below it counts.
///
/// Every statement of the grammar is named here. One that a later PostgreSQL brings is [`Kind::Unknown`] until somebody
/// has read its documentation: the test `every_statement_is_classified_on_purpose` finds it.
pub(super) fn of(statement: Node<'_>) -> (Class, Runs) {
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
        View::PrepareStmt(_) => return (session(Kind::Prepare, Touches::PREPARE), Runs::Nothing),
        // What it runs stands in the statement that was prepared.
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
        // Without a table it clusters all, each in a transaction of its own.
        View::ClusterStmt(stmt) => maintenance(stmt.relation().is_none()),
        View::ReindexStmt(stmt) => maintenance(reindexes_alone(stmt)),
        View::TruncateStmt(_) => Class::of(Kind::Truncate, Access::Write, Touches::NONE),
        _ => return definition(statement),
    };
    (class, Runs::All)
}

/// The class of what changes definitions.
// tidy: long because it names every statement of its kind: none is to slip through
fn definition(statement: Node<'_>) -> (Class, Runs) {
    let (touches, runs) = match statement.view() {
        // What they hold is looked at when it is used, not now.
        View::CreateFunctionStmt(_)
        | View::RuleStmt(_)
        | View::ViewStmt(_)
        | View::CreatePolicyStmt(_)
        | View::AlterPolicyStmt(_)
        | View::CreateTrigStmt(_) => (Touches::NONE, Runs::Nothing),
        View::CreatedbStmt(_)
        | View::DropdbStmt(_)
        | View::CreateTableSpaceStmt(_)
        | View::DropTableSpaceStmt(_)
        | View::CreateSubscriptionStmt(_)
        | View::AlterSubscriptionStmt(_)
        | View::DropSubscriptionStmt(_) => (Touches::NO_BLOCK, Runs::All),
        View::AlterSystemStmt(_) => (Touches::NO_BLOCK | Touches::DEFAULTS, Runs::All),
        View::AlterRoleSetStmt(_) | View::AlterDatabaseSetStmt(_) => (Touches::DEFAULTS, Runs::All),
        // ALTER DATABASE .. SET TABLESPACE has but that one option.
        View::AlterDatabaseStmt(stmt) => (no_block(names_option(stmt.options(), "tablespace")), Runs::All),
        View::IndexStmt(stmt) => (no_block(stmt.concurrent()), Runs::All),
        View::DropStmt(stmt) => (no_block(stmt.concurrent()), Runs::All),
        View::AlterTableStmt(stmt) => (no_block(detaches_concurrently(stmt)), Runs::All),
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
        | View::SecLabelStmt(_) => (Touches::NONE, Runs::All),
        _ => return (Class::UNKNOWN.one(), Runs::All),
    };
    (Class::of(Kind::Definition, Access::Write, touches | Touches::SCHEMA), runs)
}

fn no_block(is_so: bool) -> Touches {
    if is_so { Touches::NO_BLOCK } else { Touches::NONE }
}

fn maintenance(alone: bool) -> Class {
    Class::of(Kind::Maintenance, Access::Maintain, no_block(alone))
}

fn copy_class(copy: CopyStmt<'_>) -> Class {
    let access = if copy.is_from() { Access::Write } else { Access::Read };
    let way = match (copy.is_from(), copy.filename(), copy.is_program()) {
        (true, None, _) => CopyWay::FromClient,
        (true, Some(_), false) => CopyWay::FromFile,
        (true, Some(_), true) => CopyWay::FromProgram,
        (false, None, _) => CopyWay::ToClient,
        (false, Some(_), false) => CopyWay::ToFile,
        (false, Some(_), true) => CopyWay::ToProgram,
    };
    Class { copy: Some(way), ..Class::of(Kind::Copy, access, Touches::COPY) }
}

/// EXPLAIN's class. What it would change counts with ANALYZE only.
fn explain_class(explain: ExplainStmt<'_>) -> (Class, Runs) {
    let options = explain.options().nodes().filter_map(|option| option.cast::<DefElem<'_>>());
    // Several ANALYZE are not an error, and the last counts. Any one is enough here, to be on the safe side.
    let analyzes = options.clone().any(|option| option.defname() == Some("analyze") && is_on(option));
    if !analyzes {
        return (Class::of(Kind::Explain, Access::Read, Touches::NONE), Runs::Planned);
    }
    // By the explained node itself: it may wrap a query whose own nodes do not tell that it writes.
    let access = match explain.query().map(Node::tag) {
        Some(NodeTag::SelectStmt | NodeTag::DeclareCursorStmt) => Access::Read,
        _ => Access::Write,
    };
    (Class::of(Kind::Explain, access, Touches::EXPLAIN_ANALYZE), Runs::All)
}

/// Whether an option that is true or false is not plainly false. EXPLAIN is never cached by a key without literals, so
/// the values of literals may count here.
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

fn reindexes_alone(stmt: ReindexStmt<'_>) -> bool {
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
