//! Collects the locations of a tree's constants, in the order in which libpg_query numbers them.

use crate::node::{AConst, DefElem, List, Node, NodeTag, SelectStmt, View};
use crate::raw::Followed;

use super::select::{Select, Target};

/// A constant that will be replaced.
#[derive(Clone, Copy)]
pub(super) struct Constant {
    /// The offset at which it begins, in bytes.
    pub(super) location: u32,
    /// The number of the parameter, if it is 0 or more. Otherwise, minus the number of the parameter among the new
    /// ones.
    pub(super) parameter: i32,
}

/// The collected constants.
pub(super) struct Constants {
    pub(super) found: Vec<Constant>,
    /// The highest number of a parameter in the text.
    highest: i32,
}

impl Constants {
    /// The number that is written for a [`Constant::parameter`].
    pub(super) fn number(&self, parameter: i32) -> i64 {
        if parameter < 0 { i64::from(self.highest) - i64::from(parameter) } else { parameter.into() }
    }
}

/// libpg_query collects the constants of `(a, b, ...) = row` once for each column, which its numbers show. The work
/// for that is the number of columns times the number of constants. So if a statement has more constants than this,
/// they are collected only once here.
const REPEATED_MAX: usize = 1 << 16;
/// Most statements have fewer constants than this.
const CONSTANTS_USUAL: usize = 16;
/// The depth of most statements.
const DEPTH_USUAL: usize = 12;

/// The state of the walk for a node above the current one.
pub(super) enum Frame<'a> {
    Below(Followed<'a>),
    Select(Select<'a>),
    /// The row of a `(a, b, ...) = row`; the walk is inside it.
    Row(Row),
}

/// The constants of the row of a `(a, b, ...) = row`. The row is one node, and each column refers to it.
#[derive(Clone, Copy)]
pub(super) struct Row {
    /// The address of the row's node.
    node: *const (),
    /// The index of the row's first constant, and the index after its last.
    first: usize,
    end: usize,
    /// The number of the next new parameter before these constants.
    next: i32,
    /// The number of parameters that these constants have added.
    added: i32,
}

/// Collects the constants.
pub(super) struct Collector<'a> {
    utility_only: bool,
    pub(super) stack: Vec<Frame<'a>>,
    pub(super) constants: Vec<Constant>,
    /// The number of the next new parameter.
    pub(super) next: i32,
    highest: i32,
    /// The targets of the statements around the current node that have a GROUP BY.
    pub(super) targets: Vec<Target<'a>>,
    /// The parameters in these targets.
    pub(super) parameters: Vec<i32>,
    /// The index at which the parameters of the current target begin. `None` if there is no target, or if a SELECT
    /// inside it has recorded its own.
    pub(super) recording: Option<usize>,
    /// The last row whose constants were collected.
    row: Option<Row>,
}

impl<'a> Collector<'a> {
    pub(super) fn collect(statements: List<'a>, utility_only: bool) -> Constants {
        let mut collector = Self {
            utility_only,
            stack: Vec::with_capacity(DEPTH_USUAL),
            constants: Vec::with_capacity(CONSTANTS_USUAL),
            next: 1,
            highest: 0,
            targets: Vec::new(),
            parameters: Vec::new(),
            recording: None,
            row: None,
        };
        for statement in statements.nodes() {
            collector.enter(statement);
            while let Some(frame) = collector.stack.last_mut() {
                match frame {
                    Frame::Below(below) => match below.next() {
                        Some(node) => collector.enter(node),
                        None => drop(collector.stack.pop()),
                    },
                    Frame::Select(_) => collector.select(),
                    Frame::Row(row) => {
                        let mut row = *row;
                        collector.stack.pop();
                        row.end = collector.constants.len();
                        row.added = collector.next - row.next;
                        collector.row = Some(row);
                    }
                }
            }
        }
        Constants { found: collector.constants, highest: collector.highest }
    }

    /// Handles a node, and puts the nodes below it on the stack.
    #[inline]
    pub(super) fn enter(&mut self, node: Node<'a>) {
        match node.tag() {
            NodeTag::AConst => {
                if let Some(constant) = node.cast::<AConst<'a>>() {
                    self.constant(constant.location());
                }
            }
            NodeTag::ColumnRef | NodeTag::TypeName => {}
            _ => match self.inner(node) {
                Inner::Below => {
                    if let Some(below) = node.followed() {
                        self.stack.push(Frame::Below(below));
                    }
                }
                Inner::Nothing => {}
                // This recursion is at most as deep as EXPLAIN DECLARE ... SELECT, because few of these nodes can
                // contain another.
                Inner::Node(Some(below)) => self.enter(below),
                Inner::Node(None) => {}
                Inner::List(below) => self.stack.push(Frame::Below(Followed::list(node, below))),
                Inner::Select(statement) => {
                    let select = Select::new(statement, self.targets.len(), self.parameters.len());
                    self.stack.push(Frame::Select(select));
                }
            },
        }
    }

    /// The nodes that are visited below a node.
    fn inner(&mut self, node: Node<'a>) -> Inner<'a> {
        let unless_utility = |inner| if self.utility_only { Inner::Nothing } else { inner };
        match node.view() {
            View::ParamRef(parameter) => {
                self.highest = self.highest.max(parameter.number());
                if self.recording.is_some() {
                    self.parameters.push(parameter.number());
                }
                Inner::Nothing
            }
            View::DefElem(option) => self.option(option),
            View::RawStmt(statement) => Inner::Node(statement.stmt()),
            View::SelectStmt(statement) => unless_utility(Inner::Select(statement)),
            View::InsertStmt(_) | View::UpdateStmt(_) | View::DeleteStmt(_) | View::MergeStmt(_) => {
                unless_utility(Inner::Below)
            }
            View::VariableSetStmt(statement) => unless_utility(Inner::List(statement.args())),
            View::CopyStmt(statement) => unless_utility(Inner::Node(statement.query())),
            View::CallStmt(statement) => {
                unless_utility(Inner::Node(statement.funccall().map(|call| call.node())))
            }
            View::ExplainStmt(statement) => Inner::Node(statement.query()),
            View::CreateRoleStmt(statement) => Inner::List(statement.options()),
            View::AlterRoleStmt(statement) => Inner::List(statement.options()),
            View::DeclareCursorStmt(statement) => unless_utility(Inner::Node(statement.query())),
            View::CreateFunctionStmt(statement) => unless_utility(Inner::List(statement.options())),
            View::DoStmt(statement) => unless_utility(Inner::List(statement.args())),
            View::CreateSubscriptionStmt(statement) => {
                self.constant_if(statement.conninfo(), statement.conninfo_location())
            }
            View::AlterSubscriptionStmt(statement) => {
                self.constant_if(statement.conninfo(), statement.conninfo_location())
            }
            View::NotifyStmt(statement) => {
                self.constant_if(statement.payload(), statement.payload_location())
            }
            View::MultiAssignRef(column) => self.column_of_row(column.source()),
            View::CreateUserMappingStmt(statement) => Inner::List(statement.options()),
            View::AlterUserMappingStmt(statement) => Inner::List(statement.options()),
            _ => Inner::Below,
        }
    }

    /// An option. The grammar sets the location of its string, or -1 if it has none.
    fn option(&mut self, option: DefElem<'a>) -> Inner<'a> {
        self.constant(option.arg_location());
        Inner::Node(option.arg())
    }

    /// A column of `(a, b, ...) = row`. The row is visited for the first column; for the others its constants are
    /// repeated.
    fn column_of_row(&mut self, source: Option<Node<'a>>) -> Inner<'a> {
        let Some(source) = source else { return Inner::Nothing };
        let (first, next) = (self.constants.len(), self.next);
        let Some(row) = self.row.filter(|row| row.node == source.address()) else {
            let row = Row { node: source.address(), first, end: first, next, added: 0 };
            self.stack.push(Frame::Row(row));
            return Inner::Node(Some(source));
        };
        if first > REPEATED_MAX {
            return Inner::Nothing;
        }
        for at in row.first..row.end {
            let Some(mut constant) = self.constants.get(at).copied() else { break };
            if constant.parameter < 0 {
                constant.parameter -= next - row.next;
            }
            self.constants.push(constant);
        }
        self.next += row.added;
        Inner::Nothing
    }

    fn constant_if(&mut self, text: Option<&str>, location: i32) -> Inner<'a> {
        if text.is_some() {
            self.constant(location);
        }
        Inner::Nothing
    }

    #[inline]
    fn constant(&mut self, location: i32) {
        // -1 means unknown.
        let Ok(location) = u32::try_from(location) else { return };
        let parameter = -self.next;
        self.next += 1;
        if self.recording.is_some() {
            self.parameters.push(parameter);
        }
        self.constants.push(Constant { location, parameter });
    }
}

/// Which nodes are visited below a node.
enum Inner<'a> {
    Nothing,
    Node(Option<Node<'a>>),
    List(List<'a>),
    /// The nodes that PostgreSQL's walker follows.
    Below,
    Select(SelectStmt<'a>),
}
