//! The places of the constants of a tree, in the order that libpg_query numbers them in.

use crate::node::{AConst, DefElem, List, Node, NodeTag, SelectStmt, View};
use crate::raw::Followed;

use super::select::{Select, Target};

/// A constant to be replaced.
#[derive(Clone, Copy)]
pub(super) struct Constant {
    /// Where it begins, in bytes.
    pub(super) location: u32,
    /// The parameter's number if it is 0 or more; else minus the parameter's number among those that are added.
    pub(super) parameter: i32,
}

/// What was collected.
pub(super) struct Constants {
    pub(super) found: Vec<Constant>,
    /// The highest parameter of the text.
    highest: i32,
}

impl Constants {
    /// The number to be written for a [`Constant::parameter`].
    pub(super) fn number(&self, parameter: i32) -> i64 {
        if parameter < 0 { i64::from(self.highest) - i64::from(parameter) } else { parameter.into() }
    }
}

/// How many constants a statement may have before those of `(a, b, ...) = row` are no longer taken once for each column.
/// libpg_query takes them so, and its numbers show it; the work is that of all the columns times all the constants.
const REPEATED_MAX: usize = 1 << 16;
/// Most statements have fewer constants than this.
const CONSTANTS_USUAL: usize = 16;
/// How deep most statements are.
const DEPTH_USUAL: usize = 12;

/// Where a walk stands, for each node above.
pub(super) enum Frame<'a> {
    Below(Followed<'a>),
    Select(Select<'a>),
    /// The row of a `(a, b, ...) = row`, which is below.
    Row(Row),
}

/// The constants of the row of a `(a, b, ...) = row`: each of the columns has it, and it is one node.
#[derive(Clone, Copy)]
pub(super) struct Row {
    /// The node's address.
    node: *const (),
    /// The place of the first of the constants, and the place after the last.
    first: usize,
    end: usize,
    /// What was to be added next, before them.
    next: i32,
    /// How many parameters they have added.
    added: i32,
}

/// Collects the constants.
pub(super) struct Collector<'a> {
    utility_only: bool,
    pub(super) stack: Vec<Frame<'a>>,
    pub(super) constants: Vec<Constant>,
    /// The next parameter that is added.
    pub(super) next: i32,
    highest: i32,
    /// The targets of the statements under way which have a GROUP BY.
    pub(super) targets: Vec<Target<'a>>,
    /// The parameters in those.
    pub(super) parameters: Vec<i32>,
    /// Where those of the target under way begin. None if there is none, or a SELECT inside of it has had its own.
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

    /// A node: what it says itself, and what is below it onto the stack.
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
                // No deeper than EXPLAIN DECLARE ... SELECT: of these nodes few can hold another.
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

    /// Which nodes to go to from a node.
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

    /// The grammar says where an option's string is, and -1 if it has none.
    fn option(&mut self, option: DefElem<'a>) -> Inner<'a> {
        self.constant(option.arg_location());
        Inner::Node(option.arg())
    }

    /// The row is walked for the first of its columns; the others have its constants again.
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
        // -1: unknown.
        let Ok(location) = u32::try_from(location) else { return };
        let parameter = -self.next;
        self.next += 1;
        if self.recording.is_some() {
            self.parameters.push(parameter);
        }
        self.constants.push(Constant { location, parameter });
    }
}

/// What is to be walked of a node.
enum Inner<'a> {
    Nothing,
    Node(Option<Node<'a>>),
    List(List<'a>),
    /// What PostgreSQL's walker follows.
    Below,
    Select(SelectStmt<'a>),
}
