//! The walk: queries and expressions.

use std::collections::{HashMap, HashSet};

use super::{FilterColumn, Summary, SummaryContext, SummaryFunction};
use crate::error::{ParseError, SqlState};
use crate::node::{
    ColumnRef, CommonTableExpr, List, Node, NodeTag, SelectStmt, SetOperation, StringNode, View, WithClause,
};
use crate::raw::Followed;

use super::table::Table;

/// Statements that libpg_query's list of types lacks.
const NO_TYPES: [NodeTag; 3] =
    [NodeTag::AlterDatabaseRefreshCollStmt, NodeTag::PLAssignStmt, NodeTag::ReturnStmt];

/// How many nodes are visited before the row of `(a, b, ...) = row` is no longer visited once for each column, as
/// libpg_query does and its list of functions shows: the work is that of all the columns times all of the row.
const VISITED_REPEATEDLY_MAX: usize = 1 << 22;

pub(super) fn collect(statements: List<'_>) -> Result<Summary, ParseError> {
    let mut collector = Collector::default();
    for statement in statements.nodes() {
        if let View::RawStmt(statement) = statement.view() {
            collector.statement(statement.stmt())?;
        }
    }
    collector.resolve_tables();
    Ok(collector.summary)
}

#[derive(Default)]
pub(super) struct Collector<'a> {
    pub(super) summary: Summary,
    /// Tables as they were named: which are names of WITH is known at the end.
    pub(super) tables: Vec<(Table<'a>, SummaryContext)>,
    /// The names that WITH has given so far.
    pub(super) cte_names: HashSet<&'a str>,
    /// The tables inside of the query of their own name.
    pub(super) self_references: HashSet<*const ()>,
    /// The queries of WITH in which their own name is a table's.
    not_in_itself: HashSet<*const ()>,
    /// The names of those that are being walked, and how many have each.
    within: HashMap<&'a str, u32>,
    stack: Vec<Followed<'a>>,
    /// How many nodes were visited.
    visited: usize,
}

impl<'a> Collector<'a> {
    /// An error of libpg_query's own.
    pub(super) fn error(sqlstate: SqlState, message: String) -> ParseError {
        ParseError::new(sqlstate, message, None)
    }

    /// A query or expression and all below it.
    pub(super) fn walk(&mut self, top: Node<'a>, adds_types: bool) -> Result<(), ParseError> {
        // Walks do not nest: a statement that holds a query has nothing on the stack yet.
        self.stack.clear();
        let mut next = Some(top);
        loop {
            let node = match next.take() {
                Some(node) => node,
                None => {
                    let Some(below) = self.stack.last_mut() else { return Ok(()) };
                    let Some(node) = below.next() else {
                        let parent = below.parent();
                        self.stack.pop();
                        self.leave(parent);
                        continue;
                    };
                    node
                }
            };
            self.enter(node, adds_types)?;
            if self.is_looked_into(node) {
                self.stack.extend(node.followed());
            }
        }
    }

    /// libpg_query does not look into RETURNING.
    fn is_looked_into(&mut self, node: Node<'a>) -> bool {
        self.visited += 1;
        match node.view() {
            View::ReturningClause(_) => false,
            View::MultiAssignRef(column) => column.colno() <= 1 || self.visited < VISITED_REPEATEDLY_MAX,
            _ => true,
        }
    }

    fn enter(&mut self, node: Node<'a>, adds_types: bool) -> Result<(), ParseError> {
        use SummaryContext::{Call, Dml, Select};
        match node.view() {
            View::SelectStmt(statement) => {
                self.add_type_if(adds_types, node);
                self.select(statement)?;
            }
            View::InsertStmt(statement) => {
                self.add_type_if(adds_types, node);
                self.with(statement.with_clause());
                self.range_var(statement.relation(), Dml);
            }
            View::UpdateStmt(statement) => {
                self.add_type_if(adds_types, node);
                self.with(statement.with_clause());
                self.range_var(statement.relation(), Dml);
                self.from(statement.from_clause(), Select)?;
            }
            View::DeleteStmt(statement) => {
                self.add_type_if(adds_types, node);
                self.with(statement.with_clause());
                self.range_var(statement.relation(), Dml);
                self.from(statement.using_clause(), Select)?;
            }
            View::MergeStmt(statement) => {
                self.add_type_if(adds_types, node);
                self.with(statement.with_clause());
                self.range_var(statement.relation(), Dml);
            }
            View::FuncCall(call) => self.function(call.funcname(), Call)?,
            View::RangeVar(table) => {
                let name = table.relname().filter(|_| table.schemaname().is_none());
                if name.is_some_and(|name| self.within.contains_key(name)) {
                    self.self_references.insert(node.address());
                }
            }
            View::CommonTableExpr(query) => {
                if let Some(name) = self.own_name(query) {
                    *self.within.entry(name).or_default() += 1;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn leave(&mut self, node: Node<'a>) {
        let name = node.cast::<CommonTableExpr<'a>>().and_then(|query| self.own_name(query));
        let Some(name) = name else { return };
        if let Some(count) = self.within.get_mut(name) {
            *count -= 1;
            if *count == 0 {
                self.within.remove(name);
            }
        }
    }

    /// The name of a query of WITH, if that means a table inside of it.
    fn own_name(&self, query: CommonTableExpr<'a>) -> Option<&'a str> {
        query.ctename().filter(|_| self.not_in_itself.contains(&query.node().address()))
    }

    fn select(&mut self, statement: SelectStmt<'a>) -> Result<(), ParseError> {
        self.with(statement.with_clause());
        if statement.op() == SetOperation::SetopNone {
            self.from(statement.from_clause(), SummaryContext::Select)?;
        }
        if let Some(into) = statement.into_clause() {
            self.range_var(into.rel(), SummaryContext::Ddl);
        }
        statement.where_clause().map_or(Ok(()), |condition| self.filter(condition))
    }

    /// The names that a WITH gives. From here on a name is not a table's, except in the query of that name itself,
    /// unless WITH is RECURSIVE or a WITH further out has given it too.
    fn with(&mut self, with: Option<WithClause<'a>>) {
        let Some(with) = with else { return };
        for query in with.ctes().nodes().filter_map(|node| node.cast::<CommonTableExpr<'a>>()) {
            let Some(name) = query.ctename() else { continue };
            if !with.recursive() && query.ctequery().is_some() && !self.cte_names.contains(name) {
                self.not_in_itself.insert(query.node().address());
            }
            self.cte_names.insert(name);
            self.summary.cte_names.push(name.to_owned());
        }
    }

    /// The columns in WHERE, and the functions: they come again when the statement is walked. A SELECT inside ends it.
    fn filter(&mut self, condition: Node<'a>) -> Result<(), ParseError> {
        let mut stack: Vec<Followed<'a>> = Vec::new();
        let mut next = Some(condition);
        loop {
            let node = match next.take().or_else(|| stack.last_mut().and_then(Iterator::next)) {
                Some(node) => node,
                None if stack.pop().is_some() => continue,
                None => return Ok(()),
            };
            match node.view() {
                View::SelectStmt(_) => return Ok(()),
                View::FuncCall(call) => self.function(call.funcname(), SummaryContext::Call)?,
                View::ColumnRef(column) => self.filter_column(column),
                _ => {}
            }
            stack.extend(node.followed());
        }
    }

    fn filter_column(&mut self, reference: ColumnRef<'a>) {
        let fields = reference.fields();
        let text = |place| {
            let field = fields.get(place).flatten().and_then(|field| field.cast::<StringNode<'a>>());
            field.map(|field| field.sval().to_owned())
        };
        // None: a star.
        let Some(column) = fields.len().checked_sub(1).and_then(text) else { return };
        let (schema, table) = match fields.len() {
            2 => (None, text(0)),
            3 => (text(0), text(1)),
            _ => (None, None),
        };
        let (schema_name, table_name) = (schema.unwrap_or_default(), table.unwrap_or_default());
        self.summary.filter_columns.push(FilterColumn { schema_name, table_name, column });
    }

    pub(super) fn function(&mut self, names: List<'a>, context: SummaryContext) -> Result<(), ParseError> {
        let text = |place: usize| {
            names.get(place).flatten().and_then(|name| name.cast::<StringNode<'a>>()).map(StringNode::sval)
        };
        let schema = match names.len() {
            2 => text(0),
            3 => text(1),
            _ => None,
        };
        self.summary.functions.push(SummaryFunction {
            name: dotted(names)?,
            function_name: names.len().checked_sub(1).and_then(text).unwrap_or_default().to_owned(),
            schema_name: schema.unwrap_or_default().to_owned(),
            context,
        });
        Ok(())
    }

    fn add_type_if(&mut self, adds_types: bool, node: Node<'a>) {
        if adds_types {
            self.add_type(node.tag());
        }
    }

    /// The type of a statement.
    pub(super) fn add_type(&mut self, tag: NodeTag) {
        let name = tag.c_name();
        let types = &mut self.summary.statement_types;
        if name.ends_with("Stmt") && !NO_TYPES.contains(&tag) && !types.contains(&name) {
            types.push(name);
        }
    }
}

/// The parts of a name with points between.
pub(super) fn dotted(names: List<'_>) -> Result<String, ParseError> {
    let mut text = String::new();
    for (place, name) in names.nodes().enumerate() {
        if place > 0 {
            text.push('.');
        }
        match name.view() {
            View::String(part) => text.push_str(part.sval()),
            View::AStar(_) => text.push('*'),
            _ => {
                let message = format!("unexpected node type in name list: {}", name.tag() as u32);
                return Err(Collector::error(SqlState::INTERNAL_ERROR, message));
            }
        }
    }
    Ok(text)
}
