//! Finds every place at which a text names a relation.

use std::collections::HashSet;

use super::{DropStmtMut, EditError, ListMut, RangeVarMut, SlotMut, name};
use crate::node::{Node, ObjectType, StringNode, View};
use crate::raw::ParsedSql;

/// The name of a relation at a place in the tree: a table of a query, a table after ON, in a list of GRANT or LOCK,
/// or a list of strings in DROP, COMMENT ON and similar statements.
pub struct TableMut<'t>(Place<'t>);

enum Place<'t> {
    Node(RangeVarMut<'t>),
    /// Strings. The last ones, as many as the number says, are the name of a part of the relation: a column, a trigger.
    Names(ListMut<'t>, usize),
}

impl<'t> TableMut<'t> {
    /// A name as strings. The last `trailing` strings are the name of a part of the relation.
    pub(super) fn of_names(names: ListMut<'t>, trailing: usize) -> Self {
        Self(Place::Names(names, trailing))
    }
}

impl TableMut<'_> {
    /// The schema, if the name has one.
    pub fn schema(&self) -> Option<&str> {
        match &self.0 {
            Place::Node(table) => table.view().schemaname(),
            Place::Names(list, trailing) => string(list, list.len().checked_sub(trailing + 2)?),
        }
    }

    /// The name.
    pub fn name(&self) -> &str {
        match &self.0 {
            Place::Node(table) => table.view().relname(),
            Place::Names(list, trailing) => {
                list.len().checked_sub(trailing + 1).and_then(|index| string(list, index))
            }
        }
        .unwrap_or_default()
    }

    /// Sets or removes the schema of the name.
    ///
    /// # Errors
    /// As for [`name`].
    pub fn set_schema(&mut self, schema: Option<&str>) -> Result<(), EditError> {
        match &mut self.0 {
            Place::Node(table) => table.set_schemaname(schema),
            Place::Names(list, trailing) => {
                let Some(at) = list.len().checked_sub(*trailing + 1) else { return Ok(()) };
                match (schema, at.checked_sub(1)) {
                    (Some(schema), Some(before)) => list.replace(before, name(schema)?),
                    (Some(schema), None) => list.insert(0, name(schema)?),
                    (None, Some(before)) => {
                        list.remove(before);
                        Ok(())
                    }
                    (None, None) => Ok(()),
                }
            }
        }
    }

    /// Sets the name. Columns with the old name as their qualifier are not changed; to change them too, use
    /// [`rename_relation`](ParsedSql::rename_relation).
    ///
    /// # Errors
    /// As for [`name`].
    pub fn set_name(&mut self, new: &str) -> Result<(), EditError> {
        match &mut self.0 {
            Place::Node(table) => table.set_relname(Some(new)),
            Place::Names(list, trailing) => match list.len().checked_sub(*trailing + 1) {
                Some(at) => list.replace(at, name(new)?),
                None => Ok(()),
            },
        }
    }
}

fn string<'l>(list: &'l ListMut<'_>, index: usize) -> Option<&'l str> {
    list.list().get(index)??.cast::<StringNode<'_>>().map(StringNode::sval)
}

impl ParsedSql {
    /// Calls `change` for every place that names a relation: tables of queries, and tables in DROP, COMMENT ON,
    /// GRANT, TRUNCATE, COPY, LOCK, FOREIGN KEY, triggers, rules and all other statements. Names that WITH defines
    /// are not relations.
    ///
    /// ```
    /// let mut tree = trunkline_parser::parse("WITH c AS (SELECT 1) DELETE FROM a USING c; DROP TABLE a; COMMENT ON COLUMN b.d IS ''")?;
    /// tree.tables_mut(|table| table.set_schema(Some("app")))?;
    /// assert_eq!(
    ///     tree.deparse()?,
    ///     "WITH c AS (SELECT 1) DELETE FROM app.a USING c; DROP TABLE app.a; COMMENT ON COLUMN app.b.d IS ''"
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The first error of `change`. Changes before it stay.
    pub fn tables_mut(
        &mut self,
        mut change: impl FnMut(&mut TableMut<'_>) -> Result<(), EditError>,
    ) -> Result<(), EditError> {
        let tables: HashSet<*const ()> = self
            .references()
            .relations()
            .iter()
            .filter_map(|found| Some(found.node?.node().address()))
            .collect();
        self.edit_each(|mut slot| {
            if slot.node().is_some_and(|node| tables.contains(&node.address())) {
                if let Some(table) = slot.node_mut().cast::<RangeVarMut<'_>>() {
                    change(&mut TableMut(Place::Node(table)))?;
                }
                return Ok(());
            }
            named_by_strings(&mut slot, &mut change)
        })
    }
}

/// Calls `change` for the relations that a statement names by strings.
pub(super) fn named_by_strings(
    slot: &mut SlotMut<'_>,
    change: &mut impl FnMut(&mut TableMut<'_>) -> Result<(), EditError>,
) -> Result<(), EditError> {
    let Some(node) = slot.node() else { return Ok(()) };
    let (field, trailing) = match node.view() {
        // `OWNED BY t.a`
        View::DefElem(option) if option.defname() == Some("owned_by") => ("arg", 1),
        // `t.a%TYPE`
        View::TypeName(name) if name.pct_type() => ("names", 1),
        _ => match kind(node).and_then(trailing_names) {
            Some(trailing) => ("object", trailing),
            None => return Ok(()),
        },
    };
    let mut each = |list: Option<ListMut<'_>>| match list {
        Some(list) if list.len() > trailing => change(&mut TableMut::of_names(list, trailing)),
        _ => Ok(()),
    };
    if let Some(mut drop) = slot.node_mut().cast::<DropStmtMut<'_>>() {
        let mut objects = drop.objects_mut();
        return (0..objects.len()).try_for_each(|index| each(objects.list_mut(index)));
    }
    each(slot.node_mut().list_mut(field).ok())
}

/// The kind of the objects that a statement names by strings.
fn kind(statement: Node<'_>) -> Option<ObjectType> {
    Some(match statement.view() {
        View::DropStmt(stmt) => stmt.remove_type(),
        View::CommentStmt(stmt) => stmt.objtype(),
        View::SecLabelStmt(stmt) => stmt.objtype(),
        View::AlterExtensionContentsStmt(stmt) => stmt.objtype(),
        _ => return None,
    })
}

/// The number of names after the name of the relation; `None` for objects that belong to no relation.
fn trailing_names(kind: ObjectType) -> Option<usize> {
    Some(match kind {
        ObjectType::ObjectTable
        | ObjectType::ObjectSequence
        | ObjectType::ObjectView
        | ObjectType::ObjectMatview
        | ObjectType::ObjectIndex
        | ObjectType::ObjectForeignTable => 0,
        ObjectType::ObjectColumn
        | ObjectType::ObjectTrigger
        | ObjectType::ObjectRule
        | ObjectType::ObjectPolicy
        | ObjectType::ObjectTabconstraint => 1,
        _ => return None,
    })
}
