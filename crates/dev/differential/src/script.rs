//! Sessions as data: the messages of each client, and their order among the clients.

use trunkline_probes::testkit::Messages;

/// A protocol message of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// Query. Its statements are joined by semicolons.
    Query(Vec<Vec<u8>>),
    /// Parse.
    Parse {
        /// The statement's name.
        name: Vec<u8>,
        /// Its text.
        sql: Vec<u8>,
        /// OIDs of parameter types; for 0, the server chooses the type.
        types: Vec<u32>,
    },
    /// Bind.
    Bind {
        /// The portal's name.
        portal: Vec<u8>,
        /// The statement's name.
        name: Vec<u8>,
        /// Formats of the values, 0 for text.
        formats: Vec<u16>,
        /// The parameters' values.
        values: Vec<Option<Vec<u8>>>,
        /// Formats of the results.
        results: Vec<u16>,
    },
    /// Describe: `b'S'` or `b'P'`, and a name.
    Describe(u8, Vec<u8>),
    /// Execute: a portal and the most rows wanted, 0 for all.
    Execute(Vec<u8>, u32),
    /// Close: `b'S'` or `b'P'`, and a name.
    Close(u8, Vec<u8>),
    /// Sync.
    Sync,
    /// Flush.
    Flush,
    /// CopyData.
    CopyData(Vec<u8>),
    /// CopyDone.
    CopyDone,
    /// CopyFail with its reason.
    CopyFail(Vec<u8>),
}

impl Message {
    /// Appends the encoded message.
    #[must_use]
    pub fn write(&self, out: Messages) -> Messages {
        match self {
            Self::Query(statements) => out.message(b'Q', &zero_ended(&statements.join(&b"; "[..]))),
            Self::Parse { name, sql, types } => {
                let mut body = [zero_ended(name), zero_ended(sql)].concat();
                body.extend(count(types.len()));
                body.extend(types.iter().flat_map(|oid| oid.to_be_bytes()));
                out.message(b'P', &body)
            }
            Self::Bind { portal, name, formats, values, results } => {
                let mut body = [zero_ended(portal), zero_ended(name)].concat();
                body.extend(shorts(formats));
                body.extend(count(values.len()));
                values.iter().for_each(|value| body.extend(counted(value.as_deref())));
                body.extend(shorts(results));
                out.message(b'B', &body)
            }
            Self::Describe(kind, name) => out.message(b'D', &[&[*kind], &zero_ended(name)[..]].concat()),
            Self::Execute(portal, rows) => {
                out.message(b'E', &[&zero_ended(portal)[..], &rows.to_be_bytes()].concat())
            }
            Self::Close(kind, name) => out.message(b'C', &[&[*kind], &zero_ended(name)[..]].concat()),
            Self::Sync => out.sync(),
            Self::Flush => out.flush(),
            Self::CopyData(data) => out.copy_data(data),
            Self::CopyDone => out.copy_done(),
            Self::CopyFail(reason) => out.message(b'f', &zero_ended(reason)),
        }
    }

    /// How many statements it runs.
    #[must_use]
    pub fn statements(&self) -> usize {
        match self {
            Self::Query(statements) => statements.len(),
            Self::Execute(..) => 1,
            _ => 0,
        }
    }
}

/// Messages that the server answers with one ReadyForQuery, or that end in a Flush.
pub type Turn = Vec<Message>;

/// A start-up packet's parameters besides `user` and `database`.
pub type Startup = Vec<(String, Vec<u8>)>;

/// The action of one step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// The client connects. If it is already connected, it leaves first.
    Login(Startup),
    /// The client sends turns. It sends all of them before it reads the first answer.
    Turns(Vec<Turn>),
    /// The same, and at least one turn changes the schema. No other client may hold a lock then.
    Change(Vec<Turn>),
    /// The client sends Terminate.
    Leave,
    /// SQL on a connection that does not go through the proxy.
    Past(String),
}

/// One step: an action and its client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The client's number.
    pub actor: usize,
    /// Its action.
    pub action: Action,
}

impl Step {
    /// How many statements it runs.
    #[must_use]
    pub fn statements(&self) -> usize {
        match &self.action {
            Action::Turns(turns) | Action::Change(turns) => {
                turns.iter().flatten().map(Message::statements).sum()
            }
            Action::Login(_) | Action::Leave => 0,
            Action::Past(_) => 1,
        }
    }
}

/// Sessions of several clients, one step of one client after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// The settings of the proxy's pool.
    pub pool: Pool,
    /// The steps, in their order.
    pub steps: Vec<Step>,
}

/// The settings of the proxy that differ between scripts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pool {
    /// `pool_size`.
    pub size: usize,
    /// `max_prepared_statements`.
    pub prepared: usize,
}

fn zero_ended(text: &[u8]) -> Vec<u8> {
    [text, &[0]].concat()
}

fn count(number: usize) -> [u8; 2] {
    u16::try_from(number).unwrap_or(u16::MAX).to_be_bytes()
}

fn shorts(numbers: &[u16]) -> Vec<u8> {
    let mut bytes = count(numbers.len()).to_vec();
    bytes.extend(numbers.iter().flat_map(|number| number.to_be_bytes()));
    bytes
}

fn counted(value: Option<&[u8]>) -> Vec<u8> {
    let Some(value) = value else { return (-1_i32).to_be_bytes().to_vec() };
    [&u32::try_from(value.len()).unwrap_or(u32::MAX).to_be_bytes(), value].concat()
}
