//! Renames a relation wherever a text names it.

use std::collections::{HashMap, HashSet};

use super::tables::{TableMut, named_by_strings};
use super::{AliasMut, ColumnRefMut, EditError, Fragment, ListMut, RangeVarMut, TypeNameMut, name};
use crate::node::{
    Alias, ColumnRef, CommonTableExpr, List, Node, NodeTag, RangeVar, StringNode, TypeName, View,
};
use crate::raw::ParsedSql;
use crate::{Path, Step, Visitor};

/// The name of a relation: `"t"`, or `("schema", "t")`. Without a schema it matches only names without a schema in the
/// text, whose schema depends on the session's search_path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelationName<'n> {
    /// The schema, if the name has one.
    pub schema: Option<&'n str>,
    /// The name.
    pub name: &'n str,
}

impl RelationName<'_> {
    pub(super) fn matches(&self, schema: Option<&str>, name: &str) -> bool {
        (self.schema, self.name) == (schema, name)
    }
}

impl<'n> From<&'n str> for RelationName<'n> {
    fn from(name: &'n str) -> Self {
        Self { schema: None, name }
    }
}

impl<'n> From<(&'n str, &'n str)> for RelationName<'n> {
    fn from((schema, name): (&'n str, &'n str)) -> Self {
        Self { schema: Some(schema), name }
    }
}

/// Built-in types. If a table has such a name, the name still means the type, because `pg_catalog` comes first in every
/// search_path.
const SYSTEM_TYPES: [&str; 38] = [
    "bool",
    "bytea",
    "char",
    "name",
    "int8",
    "int2",
    "int4",
    "regproc",
    "text",
    "oid",
    "tid",
    "xid",
    "cid",
    "json",
    "xml",
    "point",
    "lseg",
    "path",
    "box",
    "polygon",
    "line",
    "float4",
    "float8",
    "circle",
    "money",
    "macaddr",
    "inet",
    "cidr",
    "bpchar",
    "varchar",
    "date",
    "time",
    "timestamp",
    "timestamptz",
    "interval",
    "numeric",
    "uuid",
    "jsonb",
];

impl ParsedSql {
    /// Renames a relation wherever the text names it: tables of queries and of all other statements (those of
    /// [`tables_mut`](Self::tables_mut)), qualified columns (`t.a`, `s.t.a`, `t.*`), FOR UPDATE OF, and the table's
    /// row type (`NULL::t`, `t.a%TYPE`). Aliases and names that WITH defines stay, and still hide the relation. In
    /// two cases the table gets its old name as an alias: if the new name would mean something else at the place, and
    /// if the old name is used alone and may mean a row or a column. Names in strings (`'t'::regclass`) are not
    /// found.
    ///
    /// Returns the number of places at which the relation was renamed.
    ///
    /// ```
    /// let mut tree = trunkline_parser::parse("SELECT t.a FROM t JOIN u t2 ON t.id = t2.id WHERE EXISTS (SELECT FROM u t WHERE t.b); DROP TABLE t")?;
    /// assert_eq!(tree.rename_relation("t", ("app", "people"))?, 2);
    /// assert_eq!(
    ///     tree.deparse()?,
    ///     "SELECT people.a FROM app.people JOIN u t2 ON people.id = t2.id WHERE EXISTS (SELECT FROM u t WHERE t.b); \
    ///      DROP TABLE app.people"
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`EditError::Taken`] if the new name has no schema and a WITH of the text defines it; the tree is then
    /// unchanged. Also as for [`name`].
    pub fn rename_relation<'n>(
        &mut self,
        from: impl Into<RelationName<'n>>,
        to: impl Into<RelationName<'n>>,
    ) -> Result<usize, EditError> {
        let (from, to) = (from.into(), to.into());
        let plan = Plan::make(self, from, to)?;
        let mut count = 0;
        self.edit_each(|mut slot| {
            let Some(address) = slot.node().map(Node::address) else { return Ok(()) };
            if let Some(has_alias) = plan.tables.get(&address) {
                count += 1;
                return rename_table(slot.node_mut().cast(), from, to, *has_alias);
            }
            if let Some(table) = plan.references.get(&address) {
                let has_alias = plan.tables.get(table).copied().unwrap_or_default();
                if let Some(mut locked) = slot.node_mut().cast::<RangeVarMut<'_>>() {
                    return if has_alias { Ok(()) } else { locked.set_relname(Some(to.name)) };
                }
                return rename_qualifier(slot.node_mut().cast(), to, has_alias);
            }
            let mut rename = |table: &mut TableMut<'_>| {
                if !from.matches(table.schema(), table.name()) {
                    return Ok(());
                }
                count += 1;
                table.set_name(to.name)?;
                table.set_schema(to.schema)
            };
            if plan.types.contains(&address)
                && let Some(mut row) = slot.node_mut().cast::<TypeNameMut<'_>>()
            {
                return rename(&mut TableMut::of_names(row.names_mut(), 0));
            }
            named_by_strings(&mut slot, &mut rename)
        })?;
        Ok(count)
    }
}

fn rename_table(
    table: Option<RangeVarMut<'_>>,
    from: RelationName<'_>,
    to: RelationName<'_>,
    has_alias: bool,
) -> Result<(), EditError> {
    let Some(mut table) = table else { return Ok(()) };
    table.set_schemaname(to.schema)?;
    table.set_relname(Some(to.name))?;
    if has_alias && table.view().alias().is_none() {
        let mut alias = Fragment::new(NodeTag::Alias)?;
        if let Some(mut alias) = alias.node_mut().cast::<AliasMut<'_>>() {
            alias.set_aliasname(Some(from.name))?;
        }
        table.set_alias(Some(alias))?;
    }
    Ok(())
}

/// Changes `s.t.a` to `new.a`, or to `t.a` if the table has its old name as an alias.
fn rename_qualifier(
    column: Option<ColumnRefMut<'_>>,
    to: RelationName<'_>,
    has_alias: bool,
) -> Result<(), EditError> {
    let Some(column) = column else { return Ok(()) };
    let mut fields: ListMut<'_> = column.into_fields();
    let was_qualified = fields.len() > 2;
    while fields.len() > 2 {
        fields.remove(0);
    }
    if has_alias {
        return Ok(());
    }
    fields.replace(0, name(to.name)?)?;
    match to.schema.filter(|_| was_qualified) {
        Some(schema) => fields.insert(0, name(schema)?),
        None => Ok(()),
    }
}

/// What to rename. Nodes are identified by their addresses.
#[derive(Default)]
struct Plan {
    /// The tables, and whether each gets its old name as an alias.
    tables: HashMap<*const (), bool>,
    /// Columns and tables of FOR UPDATE OF, with the table that each belongs to.
    references: HashMap<*const (), *const ()>,
    /// Uses of the table's row type.
    types: HashSet<*const ()>,
}

/// The visitor that makes a plan.
struct Planner<'a, 'n> {
    plan: Plan,
    from: RelationName<'n>,
    to: RelationName<'n>,
    /// The levels around the current node, each with its node and the names that it defines.
    levels: Vec<(*const (), Vec<&'a str>)>,
    /// The meanings of each name, the innermost last: the level that defines it, and the table if that table is
    /// renamed.
    meanings: HashMap<&'a str, Vec<(usize, Option<*const ()>)>>,
}

impl Plan {
    fn make(tree: &ParsedSql, from: RelationName<'_>, to: RelationName<'_>) -> Result<Self, EditError> {
        let references = tree.references();
        let mut plan = Self::default();
        for relation in references.relations().iter().filter(|found| from.matches(found.schema, found.name)) {
            plan.tables.extend(relation.node.map(|node| (node.node().address(), false)));
        }
        let is_with_of_new_name = |node: Node<'_>| {
            node.cast::<CommonTableExpr<'_>>().is_some_and(|table| table.ctename() == Some(to.name))
        };
        if to.schema.is_none() && !plan.tables.is_empty() && tree.nodes().any(is_with_of_new_name) {
            return Err(EditError::Taken(to.name.into()));
        }
        let mut planner = Planner { plan, from, to, levels: Vec::new(), meanings: HashMap::new() };
        tree.walk(&mut planner);
        Ok(planner.plan)
    }
}

impl<'a> Visitor<'a> for Planner<'a, '_> {
    fn enter(&mut self, node: Node<'a>, path: &Path<'_, 'a>) -> Step {
        match node.view() {
            View::ColumnRef(column) => self.column(column),
            View::TypeName(name) => self.type_name(name),
            View::RangeVar(table)
                if path.parent().is_some_and(|above| above.tag() == NodeTag::LockingClause) =>
            {
                if let Some((_, Some(table))) = self.meaning(table.relname().unwrap_or_default()) {
                    self.plan.references.insert(node.address(), table);
                    self.keep_if_hidden(table);
                }
            }
            _ => self.enter_level(node),
        }
        Step::Into
    }

    fn leave(&mut self, node: Node<'a>, _: &Path<'_, 'a>) -> Step {
        if self.levels.last().is_some_and(|(level, _)| *level == node.address()) {
            for name in self.levels.pop().into_iter().flat_map(|(_, names)| names) {
                if let Some(meanings) = self.meanings.get_mut(name) {
                    meanings.pop();
                }
            }
        }
        Step::Into
    }
}

impl<'a> Planner<'a, '_> {
    /// Enters a query or another statement that names tables. The names of its tables are visible below it.
    fn enter_level(&mut self, node: Node<'a>) {
        let items: Vec<Node<'a>> = match node.view() {
            View::SelectStmt(stmt) => stmt.from_clause().nodes().collect(),
            View::InsertStmt(stmt) => stmt.relation().map(RangeVar::node).into_iter().collect(),
            View::UpdateStmt(stmt) => {
                stmt.relation().map(RangeVar::node).into_iter().chain(stmt.from_clause().nodes()).collect()
            }
            View::DeleteStmt(stmt) => {
                stmt.relation().map(RangeVar::node).into_iter().chain(stmt.using_clause().nodes()).collect()
            }
            View::MergeStmt(stmt) => {
                stmt.relation().map(RangeVar::node).into_iter().chain(stmt.source_relation()).collect()
            }
            View::JoinExpr(_) | View::RangeTableSample(_) | View::LockingClause(_) | View::IntoClause(_) => {
                return;
            }
            _ => node.children().map(|child| child.node).filter(|child| child.is::<RangeVar<'_>>()).collect(),
        };
        if items.is_empty() {
            return;
        }
        let level = self.levels.len();
        let mut names = Vec::new();
        each_name(items, |name, table| {
            let table = table
                .map(|table| table.node().address())
                .filter(|table| self.plan.tables.contains_key(table));
            self.meanings.entry(name).or_default().push((level, table));
            names.push((name, table));
        });
        // Two tables with the same name would be an error, so the renamed table keeps its old name as an alias.
        if names.iter().any(|(name, table)| *name == self.to.name && table.is_none()) {
            for table in names.iter().filter_map(|(_, table)| *table) {
                self.plan.tables.insert(table, true);
            }
        }
        self.levels.push((node.address(), names.into_iter().map(|(name, _)| name).collect()));
    }

    /// The current meaning of a name: the level that defines it, and the table if that table is renamed.
    fn meaning(&self, name: &str) -> Option<(usize, Option<*const ()>)> {
        self.meanings.get(name)?.last().copied()
    }

    fn column(&mut self, column: ColumnRef<'a>) {
        let names = column.fields();
        let Some(qualifier) = string(names, names.len().saturating_sub(2)) else {
            return;
        };
        let Some((_, Some(table))) = self.meaning(qualifier) else { return };
        if names.len() == 1 {
            // This means a whole row or a column with this name.
            self.plan.tables.insert(table, true);
            return;
        }
        if names.len() > 2 && string(names, names.len() - 3) != self.from.schema {
            return;
        }
        self.plan.references.insert(column.node().address(), table);
        self.keep_if_hidden(table);
    }

    /// If the new name has a meaning from an inner level here, the table keeps its old name as an alias.
    fn keep_if_hidden(&mut self, table: *const ()) {
        let since = self.meaning(self.from.name).map_or(0, |(level, _)| level);
        if self.meaning(self.to.name).is_some_and(|(level, _)| level >= since) {
            self.plan.tables.insert(table, true);
        }
    }

    fn type_name(&mut self, name: TypeName<'a>) {
        let names = name.names();
        let (Some(last), schema) = (
            names.len().checked_sub(1).and_then(|at| string(names, at)),
            names.len().checked_sub(2).and_then(|at| string(names, at)),
        ) else {
            return;
        };
        let is_system = schema.is_none() && SYSTEM_TYPES.contains(&last);
        if !name.pct_type() && names.len() <= 2 && self.from.matches(schema, last) && !is_system {
            self.plan.types.insert(name.node().address());
        }
    }
}

fn string(names: List<'_>, at: usize) -> Option<&str> {
    names.get(at)??.cast::<StringNode<'_>>().map(StringNode::sval)
}

/// Calls `found` with each name that items of FROM define, and with the table if the item is a table without an alias.
fn each_name<'a>(mut items: Vec<Node<'a>>, mut found: impl FnMut(&'a str, Option<RangeVar<'a>>)) {
    while let Some(item) = items.pop() {
        let alias: Option<Alias<'a>> = match item.view() {
            View::RangeVar(table) => {
                if table.alias().is_none() {
                    found(table.relname().unwrap_or_default(), Some(table));
                }
                table.alias()
            }
            View::RangeTableSample(sample) => {
                items.extend(sample.relation());
                None
            }
            View::JoinExpr(join) => {
                items.extend(join.larg().into_iter().chain(join.rarg()));
                join.alias()
            }
            View::RangeSubselect(item) => item.alias(),
            View::RangeFunction(item) => item.alias(),
            View::RangeTableFunc(item) => item.alias(),
            View::JsonTable(item) => item.alias(),
            _ => None,
        };
        if let Some(name) = alias.and_then(|alias| alias.aliasname()) {
            found(name, None);
        }
    }
}
