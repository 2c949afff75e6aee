//! A relation under another name, wherever it is named.

use std::collections::{HashMap, HashSet};

use super::tables::{TableMut, named_by_strings};
use super::{AliasMut, ColumnRefMut, EditError, Fragment, ListMut, RangeVarMut, TypeNameMut, name};
use crate::node::{
    Alias, ColumnRef, CommonTableExpr, List, Node, NodeTag, RangeVar, StringNode, TypeName, View,
};
use crate::raw::ParsedSql;
use crate::{Path, Step, Visitor};

/// The name of a relation: `"t"`, or `("schema", "t")`. Without a schema it is a name that stands in a text without
/// one: only the session's search_path tells its schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelationName<'n> {
    /// The schema, if the name has one.
    pub schema: Option<&'n str>,
    /// The name.
    pub name: &'n str,
}

impl RelationName<'_> {
    pub(super) fn is(&self, schema: Option<&str>, name: &str) -> bool {
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

/// Types that are found before a table of their name, since `pg_catalog` comes first in every search_path.
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
    /// Gives a relation another name wherever it is named, and so what is qualified by its name: tables of queries and of all
    /// other statements (those of [`tables_mut`](Self::tables_mut)), columns (`t.a`, `s.t.a`, `t.*`), FOR UPDATE OF, the
    /// table's row type (`NULL::t`, `t.a%TYPE`). Aliases and the names that WITH gives stay what they are and hide it as they
    /// do. Where the new name would mean something else there, and where the old one stands alone and may be a row or a
    /// column, the table is given its old name as an alias. Names in strings (`'t'::regclass`) are not known.
    ///
    /// Returns in how many places a relation was named so.
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
    /// [`EditError::Taken`], and no change, where a WITH of the text gives the new name, and it has no schema; as of [`name`].
    pub fn rename_relation<'n>(
        &mut self,
        from: impl Into<RelationName<'n>>,
        to: impl Into<RelationName<'n>>,
    ) -> Result<usize, EditError> {
        let (from, to) = (from.into(), to.into());
        let plan = Plan::of(self, from, to)?;
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
                if !from.is(table.schema(), table.name()) {
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

/// `s.t.a` is `new.a`, or `t.a` where the table has its old name as an alias.
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

/// What is to be renamed, by the nodes' addresses.
#[derive(Default)]
struct Plan {
    /// The tables, and whether each is to have its old name as an alias.
    tables: HashMap<*const (), bool>,
    /// Columns, and tables of FOR UPDATE OF, and which table each is of.
    references: HashMap<*const (), *const ()>,
    /// The table's row type.
    types: HashSet<*const ()>,
}

/// The walk that makes a plan.
struct Planner<'a, 'n> {
    plan: Plan,
    from: RelationName<'n>,
    to: RelationName<'n>,
    /// The levels that the walk is in: each with its node, and the names that it gives.
    levels: Vec<(*const (), Vec<&'a str>)>,
    /// What each name means, the innermost last: since which level, and the table, if it is one that is renamed.
    meanings: HashMap<&'a str, Vec<(usize, Option<*const ()>)>>,
}

impl Plan {
    fn of(tree: &ParsedSql, from: RelationName<'_>, to: RelationName<'_>) -> Result<Self, EditError> {
        let references = tree.references();
        let mut plan = Self::default();
        for relation in references.relations().iter().filter(|found| from.is(found.schema, found.name)) {
            plan.tables.extend(relation.node.map(|node| (node.node().address(), false)));
        }
        let is_given_by_with = |node: Node<'_>| {
            node.cast::<CommonTableExpr<'_>>().is_some_and(|table| table.ctename() == Some(to.name))
        };
        if to.schema.is_none() && !plan.tables.is_empty() && tree.nodes().any(is_given_by_with) {
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
    /// A query, or another statement that names tables: the names of its tables are in sight below it.
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
        // Two tables of one name are an error: the one that is renamed keeps its own.
        if names.iter().any(|(name, table)| *name == self.to.name && table.is_none()) {
            for table in names.iter().filter_map(|(_, table)| *table) {
                self.plan.tables.insert(table, true);
            }
        }
        self.levels.push((node.address(), names.into_iter().map(|(name, _)| name).collect()));
    }

    /// What a name means here: since which level, and the table, if it is one that is renamed.
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
            // A whole row, or a column of this name.
            self.plan.tables.insert(table, true);
            return;
        }
        if names.len() > 2 && string(names, names.len() - 3) != self.from.schema {
            return;
        }
        self.plan.references.insert(column.node().address(), table);
        self.keep_if_hidden(table);
    }

    /// Where the new name means something nearer, the table keeps the old one as an alias.
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
        if !name.pct_type() && names.len() <= 2 && self.from.is(schema, last) && !is_system {
            self.plan.types.insert(name.node().address());
        }
    }
}

fn string(names: List<'_>, at: usize) -> Option<&str> {
    names.get(at)??.cast::<StringNode<'_>>().map(StringNode::sval)
}

/// Calls `found` with each name that items of FROM give, and the table, if it is one under its own name.
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
