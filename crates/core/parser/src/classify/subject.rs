//! The names and values in statements that are not queries, lent by the tree.

use crate::node::*;

/// What a statement is about. Borrows the tree.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Subject<'a> {
    /// Nothing that has a name here: queries, definitions and others.
    None,
    /// SET, RESET.
    Setting(Setting<'a>),
    /// SHOW of a parameter; `all` for SHOW ALL.
    Show(&'a str),
    /// PREPARE.
    Prepare {
        /// The statement's name.
        name: &'a str,
        /// The `TypeName`s of its parameters; fewer than there are where the server finds out the rest.
        types: List<'a>,
        /// What is prepared: [`Node::classify`] tells what EXECUTE of it does.
        query: Option<Node<'a>>,
    },
    /// EXECUTE, also within EXPLAIN and CREATE TABLE AS.
    Execute {
        /// The statement's name.
        name: &'a str,
        /// The values of its parameters: expressions.
        parameters: List<'a>,
    },
    /// DEALLOCATE; None for ALL.
    Deallocate(Option<&'a str>),
    /// DISCARD.
    Discard(DiscardMode),
    /// DECLARE.
    Declare {
        /// The cursor's name.
        name: &'a str,
        /// What it reads.
        query: Option<Node<'a>>,
    },
    /// FETCH, MOVE of a cursor. For WHERE CURRENT OF see the `CurrentOfExpr` in the tree.
    Fetch(&'a str),
    /// CLOSE of a cursor; None for ALL.
    Close(Option<&'a str>),
    /// LISTEN to a channel.
    Listen(&'a str),
    /// UNLISTEN; None for all channels.
    Unlisten(Option<&'a str>),
    /// NOTIFY.
    Notify {
        /// The channel.
        channel: &'a str,
        /// What is sent along.
        payload: Option<&'a str>,
    },
    /// SAVEPOINT, RELEASE, ROLLBACK TO.
    Savepoint(&'a str),
    /// PREPARE TRANSACTION, COMMIT PREPARED, ROLLBACK PREPARED: the transaction's name.
    TwoPhase(&'a str),
    /// LOAD: the library.
    Library(&'a str),
    /// COPY.
    Copy {
        /// The table.
        table: Option<RangeVar<'a>>,
        /// The query instead of a table.
        query: Option<Node<'a>>,
        /// The server's file, or the program.
        file: Option<&'a str>,
    },
}

/// How long a setting holds, as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SettingScope {
    /// SET, SET SESSION, RESET: for the session, if the transaction commits.
    Session,
    /// SET LOCAL: for the transaction.
    Transaction,
}

/// What SET or RESET does.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// The parameter as the grammar names it: TIME ZONE is `timezone`, NAMES `client_encoding`, SESSION AUTHORIZATION
    /// `session_authorization`, ROLE `role`. In capitals `TRANSACTION`, `SESSION CHARACTERISTICS` and
    /// `TRANSACTION SNAPSHOT`, which are no parameters. PostgreSQL compares without regard to case. None for RESET ALL.
    pub name: Option<&'a str>,
    /// SET to a value, TO DEFAULT, FROM CURRENT; RESET.
    pub kind: VariableSetKind,
    /// How long it holds.
    pub scope: SettingScope,
    /// The values: `A_Const`s, or one `TypeCast` (SET TIME ZONE INTERVAL). Of `TRANSACTION` and
    /// `SESSION CHARACTERISTICS` the modes, as `DefElem`s: see [`Class::modes`](super::Class::modes).
    pub values: List<'a>,
}

/// A value that a parameter is set to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SettingValue<'a> {
    /// A string or a name; `true`, `on` and their like too.
    Text(&'a str),
    /// A whole number of 32 bits.
    Integer(i32),
    /// Any other number, as it is written.
    Number(&'a str),
    /// An interval: the `TypeCast`.
    Other(Node<'a>),
}

impl<'a> Setting<'a> {
    /// The values one by one: several in `SET search_path TO a, b`.
    pub fn values(self) -> impl Iterator<Item = SettingValue<'a>> {
        self.values.nodes().map(|node| {
            let value = node.cast::<AConst<'a>>().and_then(AConst::val);
            match value.map(Node::view) {
                Some(View::String(text)) => SettingValue::Text(text.sval()),
                Some(View::Integer(number)) => SettingValue::Integer(number.ival()),
                Some(View::Float(number)) => SettingValue::Number(number.fval()),
                _ => SettingValue::Other(node),
            }
        })
    }

    /// The value, if it is one, and a string or a name.
    #[must_use]
    pub fn text(self) -> Option<&'a str> {
        match (self.values().next(), self.values.len()) {
            (Some(SettingValue::Text(text)), 1) => Some(text),
            _ => None,
        }
    }

    fn of(stmt: VariableSetStmt<'a>) -> Self {
        let scope = if stmt.is_local() { SettingScope::Transaction } else { SettingScope::Session };
        Self { name: stmt.name(), kind: stmt.kind(), scope, values: stmt.args() }
    }
}

impl<'a> Node<'a> {
    /// The names and values of this statement.
    #[must_use]
    pub fn subject(self) -> Subject<'a> {
        match self.statement().view() {
            View::VariableSetStmt(stmt) => Subject::Setting(Setting::of(stmt)),
            View::VariableShowStmt(stmt) => Subject::Show(stmt.name().unwrap_or("")),
            View::PrepareStmt(stmt) => Subject::Prepare {
                name: stmt.name().unwrap_or(""),
                types: stmt.argtypes(),
                query: stmt.query(),
            },
            View::ExecuteStmt(stmt) => execute(stmt),
            View::ExplainStmt(stmt) => within(stmt.query()),
            View::CreateTableAsStmt(stmt) => within(stmt.query()),
            View::DeallocateStmt(stmt) => Subject::Deallocate(stmt.name().filter(|_| !stmt.isall())),
            View::DiscardStmt(stmt) => Subject::Discard(stmt.target()),
            View::DeclareCursorStmt(stmt) => {
                Subject::Declare { name: stmt.portalname().unwrap_or(""), query: stmt.query() }
            }
            View::FetchStmt(stmt) => Subject::Fetch(stmt.portalname().unwrap_or("")),
            View::ClosePortalStmt(stmt) => Subject::Close(stmt.portalname()),
            View::ListenStmt(stmt) => Subject::Listen(stmt.conditionname().unwrap_or("")),
            View::UnlistenStmt(stmt) => Subject::Unlisten(stmt.conditionname()),
            View::NotifyStmt(stmt) => {
                Subject::Notify { channel: stmt.conditionname().unwrap_or(""), payload: stmt.payload() }
            }
            View::TransactionStmt(stmt) => match (stmt.savepoint_name(), stmt.gid()) {
                (Some(name), _) => Subject::Savepoint(name),
                (None, Some(name)) => Subject::TwoPhase(name),
                (None, None) => Subject::None,
            },
            View::LoadStmt(stmt) => Subject::Library(stmt.filename().unwrap_or("")),
            View::CopyStmt(stmt) => {
                Subject::Copy { table: stmt.relation(), query: stmt.query(), file: stmt.filename() }
            }
            _ => Subject::None,
        }
    }
}

fn execute<'a>(stmt: ExecuteStmt<'a>) -> Subject<'a> {
    Subject::Execute { name: stmt.name().unwrap_or(""), parameters: stmt.params() }
}

/// The subject of what EXPLAIN or CREATE TABLE AS wraps: EXECUTE, if it is one. `EXPLAIN CREATE TABLE t AS EXECUTE x`
/// is the deepest that the grammar has.
fn within(query: Option<Node<'_>>) -> Subject<'_> {
    match query.map(Node::view) {
        Some(View::ExecuteStmt(stmt)) => execute(stmt),
        Some(View::CreateTableAsStmt(stmt)) => match stmt.query().map(Node::view) {
            Some(View::ExecuteStmt(stmt)) => execute(stmt),
            _ => Subject::None,
        },
        _ => Subject::None,
    }
}
