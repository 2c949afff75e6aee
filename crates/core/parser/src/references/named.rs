//! Relations of utility statements: what each does with those it names.

use super::call::Parts;
use super::relation::Usage;
use crate::node::*;

/// What the node above a `RangeVar` does with it, if that is no query.
pub(super) fn usage(table: RangeVar<'_>, above: Node<'_>) -> Usage {
    let is =
        |field: Option<RangeVar<'_>>| field.is_some_and(|one| one.node().address() == table.node().address());
    match above.view() {
        View::IntoClause(_) => Usage::MADE,
        View::CopyStmt(copy) if copy.is_from() => Usage::WRITTEN,
        View::CopyStmt(_) => Usage::READ,
        View::TruncateStmt(_) | View::RefreshMatViewStmt(_) => Usage::WRITTEN,
        View::LockStmt(_) => Usage::LOCKED,
        // Beside what they make, they name others.
        View::CreateStmt(stmt) if !is(stmt.relation()) => Usage::NAMED,
        View::CreateForeignTableStmt(stmt) if !is(stmt.base().relation()) => Usage::NAMED,
        View::CreateTrigStmt(stmt) if !is(stmt.relation()) => Usage::NAMED,
        // INHERIT, and what is altered beside the table itself.
        View::AlterTableCmd(_)
        | View::TableLikeClause(_)
        | View::Constraint(_)
        | View::CreateStatsStmt(_)
        | View::PublicationTable(_)
        | View::VacuumRelation(_)
        | View::ClusterStmt(_)
        | View::ReindexStmt(_) => Usage::NAMED,
        _ => Usage::DEFINED,
    }
}

/// Calls `found` with each relation that a statement names by strings instead of a `RangeVar`.
pub(super) fn by_strings<'a>(statement: Node<'a>, mut found: impl FnMut(Parts<'a>, Usage)) {
    match statement.view() {
        View::DropStmt(stmt) => {
            for object in stmt.objects().nodes() {
                found(name(stmt.remove_type(), Some(object)), Usage::DEFINED);
            }
        }
        View::CommentStmt(stmt) => found(name(stmt.objtype(), stmt.object()), Usage::DEFINED),
        View::SecLabelStmt(stmt) => found(name(stmt.objtype(), stmt.object()), Usage::DEFINED),
        View::AlterExtensionContentsStmt(stmt) => found(name(stmt.objtype(), stmt.object()), Usage::DEFINED),
        _ => {}
    }
}

/// The relation that an object is, or hangs on. Nothing for other objects.
fn name(kind: ObjectType, object: Option<Node<'_>>) -> Parts<'_> {
    let parts = object.and_then(Node::as_list).unwrap_or_default().strings().rev();
    match kind {
        ObjectType::ObjectTable
        | ObjectType::ObjectSequence
        | ObjectType::ObjectView
        | ObjectType::ObjectMatview
        | ObjectType::ObjectIndex
        | ObjectType::ObjectForeignTable => Parts::of_parts(parts),
        // The last part is the name on the relation.
        ObjectType::ObjectColumn
        | ObjectType::ObjectTrigger
        | ObjectType::ObjectRule
        | ObjectType::ObjectPolicy
        | ObjectType::ObjectTabconstraint => Parts::of_parts(parts.skip(1)),
        _ => Parts::default(),
    }
}
