//! The clauses that may be left out.

use crate::node::{List, MultiAssignRef, Node, NodeTag, RawStmt, View};
use crate::raw::Followed;

/// What a clause is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The list of SELECT.
    Targets,
    /// What SET sets.
    Assignments,
    Condition,
    /// All rows of VALUES, with their parentheses.
    Rows,
    /// The columns of INSERT, without the parentheses.
    Columns,
    /// A query of WITH.
    Query,
}

/// A clause that may be left out.
pub(super) struct Clause {
    pub(super) kind: Kind,
    /// The address of the condition, the query, or the list.
    pub(super) address: *const (),
    /// How deep libpg_query counts its statement: lists are levels.
    pub(super) depth: u32,
}

/// The clauses of statements, in libpg_query's order.
pub(super) fn collect(statements: List<'_>) -> Vec<Clause> {
    let mut clauses = Vec::new();
    let mut stack: Vec<(u32, Followed<'_>)> = Vec::new();
    for statement in statements.nodes().filter_map(|node| node.cast::<RawStmt<'_>>()?.stmt()) {
        let mut next = Some((0, statement));
        while let Some((depth, node)) = next.take().or_else(|| below(&mut stack)) {
            push(&mut clauses, node, depth);
            // libpg_query does not look into RETURNING; of a row that several columns are set to, once is enough.
            let is_repeated = node.cast::<MultiAssignRef<'_>>().is_some_and(|column| column.colno() > 1);
            if node.tag() != NodeTag::ReturningClause
                && !is_repeated
                && let Some(followed) = node.followed()
            {
                stack.push((depth, followed));
            }
        }
    }
    clauses
}

/// The next node of a walk, with its depth.
fn below<'a>(stack: &mut Vec<(u32, Followed<'a>)>) -> Option<(u32, Node<'a>)> {
    loop {
        let (depth, followed) = stack.last_mut()?;
        let Some(node) = followed.next() else {
            stack.pop();
            continue;
        };
        let levels = match (node.tag(), followed.parent().tag()) {
            // Right below CASE to PostgreSQL's walker, which knows no node between.
            (NodeTag::CaseWhen, _) => 0,
            (_, NodeTag::List) => 1,
            _ if followed.is_element() => 2,
            _ => 1,
        };
        return Some((*depth + levels, node));
    }
}

fn push(clauses: &mut Vec<Clause>, node: Node<'_>, depth: u32) {
    let mut add = |kind, clause: Option<Node<'_>>| {
        if let Some(clause) = clause {
            clauses.push(Clause { kind, address: clause.address(), depth });
        }
    };
    match node.view() {
        View::SelectStmt(statement) => {
            add(Kind::Targets, statement.target_list().node());
            add(Kind::Condition, statement.where_clause());
            add(Kind::Rows, statement.values_lists().node());
        }
        View::InsertStmt(statement) => add(Kind::Columns, statement.cols().node()),
        View::UpdateStmt(statement) => {
            add(Kind::Assignments, statement.target_list().node());
            add(Kind::Condition, statement.where_clause());
        }
        View::DeleteStmt(statement) => add(Kind::Condition, statement.where_clause()),
        View::CopyStmt(statement) => add(Kind::Condition, statement.where_clause()),
        View::IndexStmt(statement) => add(Kind::Condition, statement.where_clause()),
        View::RuleStmt(statement) => add(Kind::Condition, statement.where_clause()),
        View::CommonTableExpr(query) => add(Kind::Query, query.ctequery()),
        View::InferClause(clause) => add(Kind::Condition, clause.where_clause()),
        View::OnConflictClause(clause) => {
            add(Kind::Assignments, clause.target_list().node());
            add(Kind::Condition, clause.where_clause());
        }
        _ => {}
    }
}
