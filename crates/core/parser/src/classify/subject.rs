//! The names and values in utility statements, borrowed from the tree.

use crate::node::*;

/// What a statement names. Borrows from the tree.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Subject<'a> {
    /// No subject: queries, definitions and others.
    None,
    /// SET, RESET.
    Setting(Setting<'a>),
    /// SHOW: the parameter; `all` for SHOW ALL.
    Show(&'a str),
    /// PREPARE.
    Prepare {
        /// The statement's name.
        name: &'a str,
        /// The `TypeName`s of its parameters. There may be fewer than parameters: the server finds the other types out.
        types: List<'a>,
        /// The prepared statement: [`Node::classify`] says what EXECUTE of it does.
        query: Option<Node<'a>>,
    },
    /// EXECUTE, also in EXPLAIN and CREATE TABLE AS.
    Execute {
        /// The statement's name.
        name: &'a str,
        /// The values of its parameters: expressions.
        parameters: List<'a>,
    },
    /// DEALLOCATE: the statement's name; `None` for ALL.
    Deallocate(Option<&'a str>),
    /// DISCARD.
    Discard(DiscardMode),
    /// DECLARE.
    Declare {
        /// The cursor's name.
        name: &'a str,
        /// The cursor's query.
        query: Option<Node<'a>>,
    },
    /// FETCH, MOVE: the cursor. For WHERE CURRENT OF see the `CurrentOfExpr` in the tree.
    Fetch(&'a str),
    /// CLOSE: the cursor; `None` for ALL.
    Close(Option<&'a str>),
    /// LISTEN: the channel.
    Listen(&'a str),
    /// UNLISTEN: the channel; `None` for all channels.
    Unlisten(Option<&'a str>),
    /// NOTIFY.
    Notify {
        /// The channel.
        channel: &'a str,
        /// The payload, if there is one.
        payload: Option<&'a str>,
    },
    /// SAVEPOINT, RELEASE, ROLLBACK TO: the savepoint.
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
        /// The file on the server, or the program.
        file: Option<&'a str>,
    },
}

/// How long a setting holds, as the text says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SettingScope {
    /// SET, SET SESSION, RESET: until the session ends, if the transaction commits.
    Session,
    /// SET LOCAL: until the transaction ends.
    Transaction,
}

/// A SET or RESET.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// The parameter as the grammar names it: `timezone` for TIME ZONE, `client_encoding` for NAMES,
    /// `session_authorization` for SESSION AUTHORIZATION, `role` for ROLE. `TRANSACTION`, `SESSION CHARACTERISTICS`
    /// and `TRANSACTION SNAPSHOT`, in capital letters, are not parameters. PostgreSQL compares names
    /// case-insensitively. `None` for RESET ALL.
    pub name: Option<&'a str>,
    /// SET to a value, SET TO DEFAULT, SET FROM CURRENT, or RESET.
    pub kind: VariableSetKind,
    /// How long the setting holds.
    pub scope: SettingScope,
    /// The values: `A_Const`s, or one `TypeCast` (SET TIME ZONE INTERVAL). For `TRANSACTION` and `SESSION
    /// CHARACTERISTICS` they are the modes, as `DefElem`s: see [`Class::modes`](super::Class::modes).
    pub values: List<'a>,
}

/// A value in a SET.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SettingValue<'a> {
    /// A string or a name; also words such as `true` and `on`.
    Text(&'a str),
    /// An integer of 32 bits.
    Integer(i32),
    /// Any other number, as in the text.
    Number(&'a str),
    /// An interval: the `TypeCast`.
    Other(Node<'a>),
}

impl<'a> Setting<'a> {
    /// The values. There may be several, as in `SET search_path TO a, b`.
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

    /// The value, if there is exactly one, and it is a string or a name.
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
    /// The names and values in this statement.
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

/// The EXECUTE inside an EXPLAIN or a CREATE TABLE AS, if there is one. The grammar allows both at once:
/// `EXPLAIN CREATE TABLE t AS EXECUTE x`.
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
