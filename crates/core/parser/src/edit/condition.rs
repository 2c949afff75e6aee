//! Adds a condition to each use of a table, such as the filter of a tenant.

use std::collections::HashMap;

use super::rename::RelationName;
use super::{AliasMut, EditError, Fragment, NodeMut, RangeSubselectMut, SelectStmtMut, SlotMut, target};
use crate::node::{InsertStmt, JoinType, Node, NodeTag, RangeVar, View};
use crate::raw::ParsedSql;
use crate::references::Relation;
use crate::{Path, Step};

/// What to change, and where.
#[derive(Default)]
struct Plan {
    /// For each statement (by address) that gets conditions, the name that qualifies the columns in each condition.
    conditions: HashMap<*const (), Vec<String>>,
    /// For each table (by address) that becomes `(SELECT * FROM table WHERE condition) AS name`, the name.
    wrapped: HashMap<*const (), String>,
}

impl ParsedSql {
    /// Restricts each use of a table by a condition: rows that do not fulfil it are neither read nor changed nor
    /// deleted. The function `condition` gets the name that qualifies the table's columns at the place, which is its
    /// alias or its name.
    ///
    /// The condition is added to the WHERE of each query that reads the table (also in subqueries, WITH and sides of
    /// UNION), and to the WHERE of UPDATE, DELETE and ON CONFLICT DO UPDATE. At places where WHERE would mean
    /// something else, the table becomes `(SELECT * FROM t WHERE ...) AS t`: on either side of an outer join, below
    /// an alias of a join, and in the source of MERGE. New rows of INSERT are not checked. Names that WITH defines
    /// are not tables.
    ///
    /// ```
    /// use trunkline_parser::edit;
    ///
    /// let mut tree = trunkline_parser::parse("SELECT a FROM t x JOIN u USING (id) UNION SELECT b FROM t LEFT JOIN u ON c")?;
    /// tree.add_condition("t", |table| edit::operator("=", edit::column(&[table, "tenant"])?, edit::parameter(1)?))?;
    /// assert_eq!(
    ///     tree.deparse()?,
    ///     "SELECT a FROM t x JOIN u USING (id) WHERE x.tenant = $1 \
    ///      UNION SELECT b FROM (SELECT * FROM t WHERE t.tenant = $1) t LEFT JOIN u ON c"
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`EditError::CannotRestrict`] for a use of the table that no condition can restrict: the target of MERGE,
    /// TRUNCATE, DROP, COPY of the table itself, CURRENT OF, and all other statements except queries. The tree is
    /// then unchanged. Also the first error of `condition`; then the tree may be changed in part.
    pub fn add_condition<'n>(
        &mut self,
        table: impl Into<RelationName<'n>>,
        mut condition: impl FnMut(&str) -> Result<Fragment, EditError>,
    ) -> Result<(), EditError> {
        let plan = plan(self, table.into())?;
        self.edit_each(|mut slot| {
            let Some(address) = slot.node().map(Node::address) else { return Ok(()) };
            if let Some(reference) = plan.wrapped.get(&address) {
                return wrap(&mut slot, reference, condition(reference)?);
            }
            for reference in plan.conditions.get(&address).into_iter().flatten() {
                add(slot.node_mut(), condition(reference)?)?;
            }
            Ok(())
        })
    }
}

fn plan(tree: &ParsedSql, name: RelationName<'_>) -> Result<Plan, EditError> {
    let references = tree.references();
    let found: HashMap<*const (), &Relation<'_>> = references
        .relations()
        .iter()
        .filter(|relation| name.matches(relation.schema, relation.name))
        .map(|relation| Some((relation.node?.node().address(), relation)))
        .collect::<Option<_>>()
        .ok_or(EditError::CannotRestrict("a statement that names the table by strings"))?;
    let mut plan = Plan::default();
    let mut error = None;
    tree.walk(&mut |node: Node<'_>, path: &Path<'_, '_>| {
        if let Some(relation) = found.get(&node.address())
            && let Err(wrong) = plan.place(node, relation.reference(), path)
        {
            error = Some(wrong);
            return Step::Stop;
        }
        Step::Into
    });
    error.map_or(Ok(plan), Err)
}

impl Plan {
    fn place(&mut self, table: Node<'_>, reference: &str, path: &Path<'_, '_>) -> Result<(), EditError> {
        let is =
            |field: Option<RangeVar<'_>>| field.is_some_and(|one| one.node().address() == table.address());
        let above = path.parent().ok_or(EditError::CannotRestrict("a table alone"))?;
        let statement = match above.view() {
            View::InsertStmt(insert) => return self.insert(insert, reference),
            View::MergeStmt(merge) if is(merge.relation()) => {
                return Err(EditError::CannotRestrict("the target of MERGE"));
            }
            View::UpdateStmt(update) if is(update.relation()) => above,
            View::DeleteStmt(delete) if is(delete.relation()) => above,
            _ => return self.in_from(table, reference, path),
        };
        let condition = match above.view() {
            View::UpdateStmt(update) => update.where_clause(),
            View::DeleteStmt(delete) => delete.where_clause(),
            _ => None,
        };
        if condition.is_some_and(|condition| condition.tag() == NodeTag::CurrentOfExpr) {
            return Err(EditError::CannotRestrict("WHERE CURRENT OF"));
        }
        self.conditions.entry(statement.address()).or_default().push(reference.to_owned());
        Ok(())
    }

    /// INSERT changes existing rows only by ON CONFLICT DO UPDATE.
    fn insert(&mut self, insert: InsertStmt<'_>, reference: &str) -> Result<(), EditError> {
        if let Some(clause) = insert.on_conflict_clause().filter(|clause| !clause.target_list().is_empty()) {
            self.conditions.entry(clause.node().address()).or_default().push(reference.to_owned());
        }
        Ok(())
    }

    /// A table in FROM or USING.
    fn in_from(&mut self, table: Node<'_>, reference: &str, path: &Path<'_, '_>) -> Result<(), EditError> {
        let mut item = table;
        let mut is_plain = true;
        for above in path.ancestors() {
            match above.view() {
                View::RangeTableSample(_) => item = above,
                View::JoinExpr(join) => {
                    is_plain &= join.jointype() == JoinType::JoinInner && join.alias().is_none();
                }
                View::SelectStmt(_) | View::UpdateStmt(_) | View::DeleteStmt(_) if is_plain => {
                    self.conditions.entry(above.address()).or_default().push(reference.to_owned());
                    return Ok(());
                }
                View::SelectStmt(_) | View::UpdateStmt(_) | View::DeleteStmt(_) | View::MergeStmt(_) => {
                    self.wrapped.insert(item.address(), reference.to_owned());
                    return Ok(());
                }
                _ => break,
            }
        }
        Err(EditError::CannotRestrict("a statement that is not a query"))
    }
}

fn add(mut node: NodeMut<'_>, condition: Fragment) -> Result<(), EditError> {
    node.and_condition("whereClause", condition)
}

/// Replaces a table by `(SELECT * FROM table WHERE condition) AS reference`.
fn wrap(slot: &mut SlotMut<'_>, reference: &str, condition: Fragment) -> Result<(), EditError> {
    let Some(item) = slot.node() else { return Ok(()) };
    let table = item.to_fragment()?;
    let mut select = Fragment::new(NodeTag::SelectStmt)?;
    let mut star = Fragment::new(NodeTag::ColumnRef)?;
    star.node_mut().list_mut("fields")?.push(Fragment::new(NodeTag::AStar)?)?;
    if let Some(mut query) = select.node_mut().cast::<SelectStmtMut<'_>>() {
        query.target_list_mut().push(target(star, None)?)?;
        query.from_clause_mut().push(table)?;
        query.set_where_clause(Some(condition))?;
    }
    let mut alias = Fragment::new(NodeTag::Alias)?;
    if let Some(mut alias) = alias.node_mut().cast::<AliasMut<'_>>() {
        alias.set_aliasname(Some(reference))?;
    }
    let mut subselect = Fragment::new(NodeTag::RangeSubselect)?;
    if let Some(mut around) = subselect.node_mut().cast::<RangeSubselectMut<'_>>() {
        around.set_subquery(Some(select))?;
        around.set_alias(Some(alias))?;
    }
    slot.replace(subselect)
}
