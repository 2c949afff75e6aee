//! A session as data: what each client sends, and when, against what others do.

use trunkline_probes::testkit::Messages;

/// A protocol message of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// Query: its statements, which a semicolon joins on the wire.
    Query(Vec<Vec<u8>>),
    /// Parse.
    Parse {
        /// The statement's name.
        name: Vec<u8>,
        /// Its text.
        sql: Vec<u8>,
        /// OIDs of parameter types, 0 for "you tell me".
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
    /// Appends it as the wire has it.
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

/// A start-up packet's parameters beside `user` and `database`.
pub type Startup = Vec<(String, Vec<u8>)>;

/// What one step does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    /// The client connects (and leaves first, if it is there).
    Login(Startup),
    /// The client sends turns, all of them before it reads the first answer.
    Turns(Vec<Turn>),
    /// The same, and one turn at least changes what tables and the like are: nobody else may hold a lock.
    Change(Vec<Turn>),
    /// The client says Terminate.
    Leave,
    /// SQL on a connection that does not pass the proxy.
    Past(String),
}

/// A deed and the client that does it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The client's number.
    pub actor: usize,
    /// What it does.
    pub deed: Deed,
}

impl Step {
    /// How many statements it runs.
    #[must_use]
    pub fn statements(&self) -> usize {
        match &self.deed {
            Deed::Turns(turns) | Deed::Change(turns) => turns.iter().flatten().map(Message::statements).sum(),
            Deed::Login(_) | Deed::Leave => 0,
            Deed::Past(_) => 1,
        }
    }
}

/// Sessions of several clients, one step of one client after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// What the proxy's pool is like.
    pub pool: Pool,
    /// In their order.
    pub steps: Vec<Step>,
}

/// The proxy's settings that differ from script to script.
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
