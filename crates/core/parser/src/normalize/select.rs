//! SELECT: its clauses in libpg_query's order, and the expressions it groups by.

use crate::fingerprint::FingerprintOptions;
use crate::node::{AConst, ColumnRef, Integer, List, ListIter, Node, NodeTag, ResTarget, SelectStmt, SortBy};

use super::collect::{Collector, Frame};

/// The clauses of SELECT.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Clause {
    Distinct,
    Into,
    Targets,
    From,
    Where,
    Group,
    Sort,
    Having,
    Window,
    Values,
    LimitOffset,
    LimitCount,
    Locking,
    With,
    Left,
    Right,
}

/// The clauses in the order that they are walked in.
const CLAUSES: [Clause; 16] = [
    Clause::Distinct,
    Clause::Into,
    Clause::Targets,
    Clause::From,
    Clause::Where,
    Clause::Group,
    Clause::Sort,
    Clause::Having,
    Clause::Window,
    Clause::Values,
    Clause::LimitOffset,
    Clause::LimitCount,
    Clause::Locking,
    Clause::With,
    Clause::Left,
    Clause::Right,
];

/// A SELECT under way.
pub(super) struct Select<'a> {
    statement: SelectStmt<'a>,
    /// The clause of the node that came last.
    clause: Clause,
    /// The place in [`CLAUSES`] of the one after it.
    next_clause: usize,
    /// What is left of it, if it is a list.
    cells: ListIter<'a>,
    /// Where this statement's targets begin among all.
    first_target: usize,
    /// Where the parameters of its targets begin.
    first_parameter: usize,
    open: Open<'a>,
    /// Whether its targets have fingerprints, and are in their order.
    is_sorted: bool,
}

/// The node that came last, if something is to be done after it.
#[derive(Clone, Copy)]
enum Open<'a> {
    None,
    /// An element of the SELECT list, where there is a GROUP BY: its value.
    Target(Option<Node<'a>>),
    /// An element of GROUP BY: how many constants there were before it, and the parameters of the target it equals.
    Group(usize, Parameters),
}

/// An element of a SELECT list, where there is a GROUP BY.
pub(super) struct Target<'a> {
    value: Option<Node<'a>>,
    /// Of the value; 0 until it is asked for.
    fingerprint: u64,
    parameters: Parameters,
    /// How many targets of this fingerprint have been matched: in the first of them.
    taken: usize,
}

/// Where the parameters of a target stand among all.
#[derive(Clone, Copy, Default)]
pub(super) struct Parameters {
    first: usize,
    end: usize,
}

impl<'a> Select<'a> {
    pub(super) fn new(statement: SelectStmt<'a>, first_target: usize, first_parameter: usize) -> Self {
        Self {
            statement,
            clause: Clause::Distinct,
            next_clause: 0,
            cells: ListIter::default(),
            first_target,
            first_parameter,
            open: Open::None,
            is_sorted: false,
        }
    }

    /// The next node below.
    fn next(&mut self) -> Option<Node<'a>> {
        loop {
            for node in self.cells.by_ref().flatten() {
                // `GROUP BY 1` and `ORDER BY 1` name a column by its place.
                let is_place = match self.clause {
                    Clause::Group => is_integer(node),
                    Clause::Sort => node.cast::<SortBy<'a>>().and_then(SortBy::node_).is_some_and(is_integer),
                    _ => false,
                };
                if !is_place {
                    return Some(node);
                }
            }
            self.clause = *CLAUSES.get(self.next_clause)?;
            self.next_clause += 1;
            match self.clause.of(self.statement) {
                Part::Node(None) => {}
                Part::Node(node) => return node,
                Part::List(list) => self.cells = list.iter(),
            }
        }
    }
}

/// What a clause is in the tree.
enum Part<'a> {
    Node(Option<Node<'a>>),
    List(List<'a>),
}

impl Clause {
    fn of(self, statement: SelectStmt<'_>) -> Part<'_> {
        match self {
            Self::Distinct => Part::List(statement.distinct_clause()),
            Self::Into => Part::Node(statement.into_clause().map(|into| into.node())),
            Self::Targets => Part::List(statement.target_list()),
            Self::From => Part::List(statement.from_clause()),
            Self::Where => Part::Node(statement.where_clause()),
            Self::Group => Part::List(statement.group_clause()),
            Self::Sort => Part::List(statement.sort_clause()),
            Self::Having => Part::Node(statement.having_clause()),
            Self::Window => Part::List(statement.window_clause()),
            Self::Values => Part::List(statement.values_lists()),
            Self::LimitOffset => Part::Node(statement.limit_offset()),
            Self::LimitCount => Part::Node(statement.limit_count()),
            Self::Locking => Part::List(statement.locking_clause()),
            Self::With => Part::Node(statement.with_clause().map(|with| with.node())),
            Self::Left => Part::Node(statement.larg().map(|left| left.node())),
            Self::Right => Part::Node(statement.rarg().map(|right| right.node())),
        }
    }
}

fn is_integer(node: Node<'_>) -> bool {
    node.cast::<AConst<'_>>().and_then(AConst::val).is_some_and(|value| value.is::<Integer<'_>>())
}

impl<'a> Collector<'a> {
    /// The next node of the SELECT on top of the stack, or its end.
    pub(super) fn select(&mut self) {
        let Some(Frame::Select(select)) = self.stack.last_mut() else { return };
        match std::mem::replace(&mut select.open, Open::None) {
            Open::None => {}
            Open::Target(value) => {
                let end = self.parameters.len();
                // A SELECT in the target has recorded its own, and this target has none then.
                let first = self.recording.take().unwrap_or(end);
                let parameters = Parameters { first, end };
                self.targets.push(Target { value, fingerprint: 0, parameters, taken: 0 });
            }
            Open::Group(before, parameters) => self.reuse(before, parameters),
        }
        self.select_next();
    }

    fn select_next(&mut self) {
        let Some(Frame::Select(select)) = self.stack.last_mut() else { return };
        let is_grouped = !select.statement.group_clause().is_empty();
        let Some(node) = select.next() else {
            // Without targets, those of a statement above may go on.
            if is_grouped && !select.statement.target_list().is_empty() {
                self.targets.truncate(select.first_target);
                self.parameters.truncate(select.first_parameter);
            }
            self.stack.pop();
            return;
        };
        match select.clause {
            Clause::Targets if is_grouped => {
                let value = node.cast::<ResTarget<'a>>().and_then(ResTarget::val);
                select.open = Open::Target(value);
                self.recording = Some(self.parameters.len());
            }
            Clause::Targets => self.recording = None,
            // A column has no parameter, and only a column equals it.
            Clause::Group if !node.is::<ColumnRef<'a>>() => {
                let targets = self.targets.get_mut(select.first_target..).unwrap_or_default();
                // Without a parameter in any target there is none to be used again.
                if targets.iter().any(|target| target.parameters.first < target.parameters.end) {
                    if !std::mem::replace(&mut select.is_sorted, true) {
                        sort(targets, select.statement.group_clause());
                    }
                    select.open = Open::Group(self.constants.len(), take(targets, node));
                }
            }
            _ => {}
        }
        self.enter(node);
    }

    /// The constants from `before` on are those of a target: they have its parameters.
    fn reuse(&mut self, before: usize, parameters: Parameters) {
        let Some(constants) = self.constants.get_mut(before..) else { return };
        let Some(parameters) = self.parameters.get(parameters.first..parameters.end) else { return };
        if constants.len() != parameters.len() {
            return;
        }
        for (constant, parameter) in constants.iter_mut().zip(parameters) {
            constant.parameter = *parameter;
        }
        self.next -= i32::try_from(parameters.len()).unwrap_or(0);
    }
}

/// Puts targets in the order of their fingerprints, equal ones in theirs. Those that can equal no expression of GROUP BY have
/// none: 0.
fn sort(targets: &mut [Target<'_>], group: List<'_>) {
    let mut classes = [0_u64; CLASS_WORDS];
    for class in group.nodes().map(class) {
        if let Some(word) = classes.get_mut(class / WORD_BITS) {
            *word |= 1 << (class % WORD_BITS);
        }
    }
    for target in &mut *targets {
        let value = target.value.filter(|value| {
            let class = class(*value);
            !value.is::<ColumnRef<'_>>()
                && classes.get(class / WORD_BITS).is_none_or(|word| word >> (class % WORD_BITS) & 1 == 1)
        });
        target.fingerprint = value.map_or(0, fingerprint);
    }
    targets.sort_by_key(|target| target.fingerprint);
}

const WORD_BITS: usize = u64::BITS as usize;
/// Words of a set of types of nodes; types beyond are taken for members.
const CLASS_WORDS: usize = 8;

/// Nodes of different classes never have the same fingerprint: it begins with the type's name, except for nodes that
/// may count for nothing.
fn class(node: Node<'_>) -> usize {
    match node.tag() {
        NodeTag::AConst
        | NodeTag::ParamRef
        | NodeTag::SetToDefault
        | NodeTag::Alias
        | NodeTag::TypeCast
        | NodeTag::List => 0,
        tag => tag as usize,
    }
}

/// The parameters of the first target that equals an expression and was not taken before; none if there is no such target.
fn take(targets: &mut [Target<'_>], expression: Node<'_>) -> Parameters {
    let wanted = fingerprint(expression);
    let first = targets.partition_point(|target| target.fingerprint < wanted);
    let taken = targets.get(first).map_or(0, |target| target.taken);
    let Some(found) = targets.get(first + taken).filter(|target| target.fingerprint == wanted) else {
        return Parameters::default();
    };
    let parameters = found.parameters;
    if let Some(target) = targets.get_mut(first) {
        target.taken += 1;
    }
    parameters
}

fn fingerprint(node: Node<'_>) -> u64 {
    node.fingerprint(FingerprintOptions::default()).0
}
