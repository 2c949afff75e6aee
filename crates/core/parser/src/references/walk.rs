//! The walk that finds all references.

use super::call::{Call, Parameter};
use super::comparison::Holds;
use super::condition::Found;
use super::frame::{Frame, Locks};
use super::relation::{Relation, Usage, alias};
use super::scope::Scope;
use super::{Level, References, named};
use crate::node::*;
use crate::walk::{Path, Step, Visitor};

/// Adds what a statement refers to.
pub(super) fn collect<'a>(statement: Node<'a>, references: &mut References<'a>) {
    let statement = statement.cast::<RawStmt<'a>>().and_then(RawStmt::stmt).unwrap_or(statement);
    let mut walk = Collector {
        references,
        frames: Vec::new(),
        conditions: Vec::new(),
        scope: Scope::default(),
        definitions: 0,
    };
    // Queries are levels wherever they stand, utility statements at the top.
    if !is_query(statement.tag()) {
        walk.push_level(statement, false, Locks::default());
    }
    statement.walk(&mut walk);
}

struct Collector<'r, 'a> {
    references: &'r mut References<'a>,
    /// The levels that the walk is in.
    frames: Vec<Frame<'a>>,
    /// The joins, ANDs, ORs and NOTs that it is in.
    conditions: Vec<Condition>,
    scope: Scope<'a>,
    /// How many statements it is in that only write down what is below them.
    definitions: usize,
}

/// What a join or a logical operator makes of the conditions below it.
struct Condition {
    /// Of the arguments of AND and its like; of the joins in a join.
    below: Holds,
    /// Of a join's own ON.
    on: Holds,
}

impl<'a> Visitor<'a> for Collector<'_, 'a> {
    fn enter(&mut self, node: Node<'a>, path: &Path<'_, 'a>) -> Step {
        match node.tag() {
            // Nothing of interest is below these, and most nodes are of them.
            NodeTag::ColumnRef | NodeTag::AConst | NodeTag::String | NodeTag::TypeName | NodeTag::Alias => {
                return Step::Skip;
            }
            NodeTag::RangeVar => {
                if let Some(table) = node.cast() {
                    self.table(table, path);
                }
                return Step::Skip;
            }
            tag if is_query(tag) => self.enter_query(node, path),
            _ => self.enter_other(node, path),
        }
        Step::Into
    }

    fn leave(&mut self, node: Node<'a>, path: &Path<'_, 'a>) -> Step {
        match node.view() {
            View::BoolExpr(_) | View::JoinExpr(_) => drop(self.conditions.pop()),
            View::CommonTableExpr(table) => self.leave_common_table(table, path),
            view if is_query(view.tag()) => self.leave_query(node),
            view if is_definition(view.tag()) => self.definitions = self.definitions.saturating_sub(1),
            _ => {}
        }
        Step::Into
    }
}

impl<'a> Collector<'_, 'a> {
    fn enter_other(&mut self, node: Node<'a>, path: &Path<'_, 'a>) {
        match node.view() {
            View::AExpr(expression) => self.found(node, path).expression(expression),
            View::NullTest(test) => self.found(node, path).null_test(test),
            View::BooleanTest(test) => self.found(node, path).boolean_test(test),
            View::BoolExpr(expression) => {
                let holds = match expression.boolop() {
                    BoolExprType::AndExpr => self.holds(node, path),
                    BoolExprType::OrExpr | BoolExprType::NotExpr => Holds::Maybe,
                };
                self.conditions.push(Condition { below: holds, on: Holds::Maybe });
            }
            View::JoinExpr(join) => self.enter_join(join, path),
            View::ResTarget(target) => self.target(target, path),
            View::MergeWhenClause(clause) if clause.command_type() == CmdType::CmdInsert => {
                let level = self.level();
                Found { comparisons: &mut self.references.comparisons, holds: Holds::Maybe, level }
                    .insert_row(clause.target_list(), clause.values());
            }
            View::FuncCall(call) => {
                let level = self.level();
                self.references.calls.push(Call::of(call, level));
            }
            View::ParamRef(parameter) => self
                .references
                .parameters
                .push(Parameter { number: parameter.number(), location: parameter.location() }),
            // The names of a WITH without RECURSIVE are in sight below the query, but here one by one.
            View::WithClause(with) if !with.recursive() => self.forget_names(),
            View::DropStmt(_)
            | View::CommentStmt(_)
            | View::SecLabelStmt(_)
            | View::AlterExtensionContentsStmt(_) => self.named_by_strings(node),
            view if is_definition(view.tag()) => self.definitions += 1,
            _ => {}
        }
    }

    /// The number of the level that the walk is in. There always is one: `collect` pushes it, or the top is a query.
    fn level(&self) -> u32 {
        self.frames.last().map_or(0, |frame| frame.level)
    }

    fn push_level(&mut self, statement: Node<'a>, is_query: bool, locks: Locks<'a>) {
        let above = self.frames.last().map(|frame| frame.level);
        let is_outermost = self.frames.last().is_none_or(|frame| !frame.is_query);
        // A tree is limited to TREE_BYTES_MAX bytes, far fewer levels.
        let level = u32::try_from(self.references.levels.len()).unwrap_or(u32::MAX);
        self.references.levels.push(Level { statement, above, is_outermost });
        self.frames.push(Frame::new(statement, level, is_query, locks));
    }

    fn enter_query(&mut self, node: Node<'a>, path: &Path<'_, 'a>) {
        let mut locks = Locks::default();
        if let Some(select) = node.cast::<SelectStmt<'a>>() {
            let inherited = path.parent().and_then(|above| {
                let alias = above.cast::<RangeSubselect<'a>>()?.alias();
                let reference = alias.and_then(|alias| alias.aliasname()).unwrap_or("");
                self.frames.last()?.lock_of(reference)
            });
            locks = Locks::of(select, inherited);
        }
        self.push_level(node, true, locks);
        if let Some(with) = with_clause(node) {
            for name in with.ctes().nodes().filter_map(|node| node.cast::<CommonTableExpr<'a>>()?.ctename()) {
                self.declare(name);
            }
        }
        if let Some(insert) = node.cast::<InsertStmt<'a>>() {
            let level = self.level();
            Found { comparisons: &mut self.references.comparisons, holds: Holds::Always, level }
                .insert(insert);
        }
    }

    fn leave_query(&mut self, node: Node<'a>) {
        if self.frames.last().is_some_and(|frame| frame.statement.address() == node.address()) {
            self.forget_names();
            self.frames.pop();
        }
    }

    fn declare(&mut self, name: &'a str) {
        if let Some(frame) = self.frames.last_mut() {
            frame.names += 1;
            self.scope.declare(name);
        }
    }

    /// Takes the names of the present level's WITH out of sight.
    fn forget_names(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            self.scope.forget(std::mem::take(&mut frame.names));
        }
    }

    /// From its end on, a name of a WITH without RECURSIVE is in sight.
    fn leave_common_table(&mut self, table: CommonTableExpr<'a>, path: &Path<'_, 'a>) {
        let with = path.parent().and_then(|above| above.cast::<WithClause<'a>>());
        if let Some(name) = table.ctename()
            && with.is_some_and(|with| !with.recursive())
        {
            self.declare(name);
        }
    }

    fn enter_join(&mut self, join: JoinExpr<'a>, path: &Path<'_, 'a>) {
        let is = |side: Option<Node<'a>>| side.is_some_and(|side| side.address() == join.node().address());
        let around = match path.parent().and_then(|above| above.cast::<JoinExpr<'a>>()) {
            None => Holds::Always,
            Some(above) => {
                let may_be_null = match above.jointype() {
                    JoinType::JoinInner => false,
                    JoinType::JoinLeft => is(above.rarg()),
                    JoinType::JoinRight => is(above.larg()),
                    _ => true,
                };
                let inherited = self.conditions.last().map_or(Holds::Maybe, |above| above.below);
                if may_be_null { Holds::OuterJoin } else { inherited }
            }
        };
        let on = if join.jointype() == JoinType::JoinInner { around } else { Holds::OuterJoin };
        self.conditions.push(Condition { below: around, on });
    }

    /// What a condition at this place says of the rows of its level.
    fn holds(&self, node: Node<'a>, path: &Path<'_, 'a>) -> Holds {
        let is = |field: Option<Node<'a>>| field.is_some_and(|field| field.address() == node.address());
        let condition = self.conditions.last();
        match path.parent().map(Node::view) {
            Some(View::BoolExpr(_)) => condition.map_or(Holds::Maybe, |above| above.below),
            Some(View::JoinExpr(join)) if is(join.quals()) => {
                condition.map_or(Holds::Maybe, |above| above.on)
            }
            Some(View::SelectStmt(above)) if is(above.where_clause()) => Holds::Always,
            Some(View::UpdateStmt(above)) if is(above.where_clause()) => Holds::Always,
            Some(View::DeleteStmt(above)) if is(above.where_clause()) => Holds::Always,
            _ => Holds::Maybe,
        }
    }

    fn found(&mut self, node: Node<'a>, path: &Path<'_, 'a>) -> Found<'_, 'a> {
        let (holds, level) = (self.holds(node, path), self.level());
        Found { comparisons: &mut self.references.comparisons, holds, level }
    }

    /// A column that a statement sets.
    fn target(&mut self, target: ResTarget<'a>, path: &Path<'_, 'a>) {
        let holds = match path.parent().map(Node::view) {
            Some(View::UpdateStmt(_)) => Holds::Always,
            Some(View::OnConflictClause(_)) => Holds::Maybe,
            Some(View::MergeWhenClause(clause)) if clause.command_type() == CmdType::CmdUpdate => {
                Holds::Maybe
            }
            _ => return,
        };
        let level = self.level();
        Found { comparisons: &mut self.references.comparisons, holds, level }.assigned(target);
    }

    fn table(&mut self, table: RangeVar<'a>, path: &Path<'_, 'a>) {
        let (Some(above), Some(frame)) = (path.parent(), self.frames.last()) else { return };
        let is_target = |field: Option<RangeVar<'a>>| {
            field.is_some_and(|field| field.node().address() == table.node().address())
        };
        let usage = match above.view() {
            // Names of the query's own tables, which come by themselves.
            View::LockingClause(_) => return,
            View::InsertStmt(_) => Usage::WRITTEN,
            View::UpdateStmt(stmt) if is_target(stmt.relation()) => Usage::CHANGED,
            View::DeleteStmt(stmt) if is_target(stmt.relation()) => Usage::CHANGED,
            View::MergeStmt(stmt) if is_target(stmt.relation()) => Usage::CHANGED,
            View::SelectStmt(_)
            | View::UpdateStmt(_)
            | View::DeleteStmt(_)
            | View::MergeStmt(_)
            | View::JoinExpr(_)
            | View::RangeTableSample(_) => {
                let is_qualified = table.schemaname().is_some() || table.catalogname().is_some();
                if !is_qualified && self.scope.has(table.relname().unwrap_or("")) {
                    return;
                }
                Usage::READ
            }
            _ => named::usage(table, above),
        };
        let mut relation = Relation::of(table, usage, frame.level);
        if usage == Usage::READ && frame.is_query {
            relation.lock = frame.lock_of(alias(table).unwrap_or(relation.name));
            relation.usage.is_locked = relation.lock.is_some();
        }
        relation.is_in_definition = self.definitions > 0 && frame.is_query;
        self.references.relations.push(relation);
    }

    fn named_by_strings(&mut self, statement: Node<'a>) {
        let level = self.level();
        let relations = &mut self.references.relations;
        named::by_strings(statement, |name, usage| relations.extend(Relation::of_name(name, usage, level)));
    }
}

fn is_query(tag: NodeTag) -> bool {
    matches!(
        tag,
        NodeTag::SelectStmt
            | NodeTag::InsertStmt
            | NodeTag::UpdateStmt
            | NodeTag::DeleteStmt
            | NodeTag::MergeStmt
    )
}

/// Statements that write down what is below them for later.
fn is_definition(tag: NodeTag) -> bool {
    matches!(
        tag,
        NodeTag::ViewStmt
            | NodeTag::RuleStmt
            | NodeTag::CreateFunctionStmt
            | NodeTag::CreatePolicyStmt
            | NodeTag::AlterPolicyStmt
            | NodeTag::CreateTrigStmt
    )
}

fn with_clause(query: Node<'_>) -> Option<WithClause<'_>> {
    match query.view() {
        View::SelectStmt(stmt) => stmt.with_clause(),
        View::InsertStmt(stmt) => stmt.with_clause(),
        View::UpdateStmt(stmt) => stmt.with_clause(),
        View::DeleteStmt(stmt) => stmt.with_clause(),
        View::MergeStmt(stmt) => stmt.with_clause(),
        _ => None,
    }
}
