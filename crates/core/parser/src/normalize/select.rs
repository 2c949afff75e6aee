//! Walks over SELECT: its clauses in libpg_query's order, and its expressions in GROUP BY.

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

/// The clauses in the order of the walk.
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

/// The state of the walk in a SELECT.
pub(super) struct Select<'a> {
    statement: SelectStmt<'a>,
    /// The clause of the last node.
    clause: Clause,
    /// The index in [`CLAUSES`] of the next clause.
    next_clause: usize,
    /// The rest of the current clause, if it is a list.
    cells: ListIter<'a>,
    /// The index at which this statement's targets begin.
    first_target: usize,
    /// The index at which the parameters of its targets begin.
    first_parameter: usize,
    open: Open<'a>,
    /// Whether its targets have fingerprints and are ordered by them.
    is_sorted: bool,
}

/// The last node, if something must be done after it.
#[derive(Clone, Copy)]
enum Open<'a> {
    None,
    /// An element of the SELECT list in a statement with GROUP BY; its value.
    Target(Option<Node<'a>>),
    /// An element of GROUP BY: the number of constants before it, and the parameters of the equal target.
    Group(usize, Parameters),
}

/// An element of the SELECT list in a statement with GROUP BY.
pub(super) struct Target<'a> {
    value: Option<Node<'a>>,
    /// The fingerprint of the value; 0 until it is computed.
    fingerprint: u64,
    parameters: Parameters,
    /// In the first target with a fingerprint: how many targets with this fingerprint were matched.
    taken: usize,
}

/// The range of a target's parameters among all.
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
                // The number in `GROUP BY 1` and `ORDER BY 1` names a column by its position.
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
            match self.clause.content(self.statement) {
                Part::Node(None) => {}
                Part::Node(node) => return node,
                Part::List(list) => self.cells = list.iter(),
            }
        }
    }
}

/// The content of a clause in the tree.
enum Part<'a> {
    Node(Option<Node<'a>>),
    List(List<'a>),
}

impl Clause {
    fn content(self, statement: SelectStmt<'_>) -> Part<'_> {
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
    /// Goes to the next node of the SELECT on top of the stack, or ends the SELECT.
    pub(super) fn select(&mut self) {
        let Some(Frame::Select(select)) = self.stack.last_mut() else { return };
        match std::mem::replace(&mut select.open, Open::None) {
            Open::None => {}
            Open::Target(value) => {
                let end = self.parameters.len();
                // If a SELECT in the target has recorded its own parameters, this target has none.
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
            // A SELECT without targets does not end the recording of a statement above.
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
            // A column has no parameter, and only another column is equal to it.
            Clause::Group if !node.is::<ColumnRef<'a>>() => {
                let targets = self.targets.get_mut(select.first_target..).unwrap_or_default();
                // If no target has a parameter, there is none to use again.
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

    /// Gives the constants from `before` on the parameters of the target that the expression equals.
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

/// Sorts targets by their fingerprints; equal ones keep their order. A target that cannot equal any expression of
/// GROUP BY gets no fingerprint (0).
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
/// The number of words of a set of node types. Types with higher numbers always count as members.
const CLASS_WORDS: usize = 8;

/// The class of a node. Nodes of different classes never have the same fingerprint, because it begins with the name
/// of the node's type. Nodes that may not count at all in a fingerprint are an exception.
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

/// The parameters of the first target that equals an expression and was not matched before; none if there is no such
/// target.
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
