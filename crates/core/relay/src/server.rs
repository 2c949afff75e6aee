//! What the board stores about a server connection.

use std::sync::Arc;

use trunkline_pool::{Micros, PoolId};
use trunkline_session::frontend::Login;
use trunkline_wire::backend::TransactionStatus;
use trunkline_wire::frontend::{Query, sync};

use crate::carried::parameters::{Profile, UNKNOWN};
use crate::carried::prepared::{ServerStatements, StatementId};
use crate::directory::TlsWay;
use crate::inbox::Inbox;
use crate::keys::ClientKey;
use crate::outbox::Outbox;
use crate::rest::Rest;
use crate::turn::{Chore, CopyState, Expect, Message, Owner, Pending, Turns, Undo};
use crate::welcome::Welcome;

/// What a server connection is doing now.
#[derive(Debug)]
pub enum ServerStage {
    /// It connects or logs in.
    Login(Box<Opening>),
    /// It is logged in and on its pool's idle list.
    Idle,
    /// This client has it.
    Lent(ClientKey),
    /// It runs a command of our own, and no client has it.
    Chore(Chore),
    /// Its client sent Terminate after complete turns. These turns run to their end, as they would on a direct connection.
    Finishing,
    /// Its client has vanished, or a cancel request is under way, and no client has it.
    Abandoned,
}

/// A server connection that is not logged in yet.
#[derive(Debug)]
pub struct Opening {
    pub(crate) login: Login,
    pub(crate) reached: Reached,
    pub(crate) way: TlsWay,
    /// Whether the other TLS mode has already failed.
    pub(crate) last_try: bool,
}

/// How far the opening of the connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    /// It does not exist yet.
    NotConnected,
    /// It exists, without TLS.
    Connected,
    /// TLS has begun on it.
    TlsBegun,
}

/// Whether a cancel request for this connection is under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Cancel {
    #[default]
    None,
    UnderWay,
    /// One is under way, and another one was asked for in the meantime.
    Again,
}

/// Whether the next client may get the connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Condition {
    #[default]
    Clean,
    /// A client of session mode has used it. It must be reset first.
    Used,
    /// Something went wrong on it. No client gets it again; it is closed.
    Condemned,
}

/// A server connection.
#[derive(Debug)]
pub struct Server {
    pub(crate) stage: ServerStage,
    pub(crate) pool: PoolId,
    /// The number of the configuration (`Directory::epoch`) under which it was opened.
    pub(crate) epoch: u64,
    /// Its parameters when the server has read everything that we sent.
    pub(crate) profile: Arc<Profile>,
    /// The parameters that it reported after its login, and that a reset brings back.
    pub(crate) welcome: Option<Arc<Welcome>>,
    /// The rest of a message of which we have handled the beginning.
    pub(crate) rest: Rest,
    /// Whether the shell must not read from it: its client reads slowly, or TLS begins.
    pub(crate) paused: bool,
    /// The client's next message waits for answers to earlier ones, for example because they decide which statement a name
    /// means.
    pub(crate) awaits_answers: bool,
    pub(crate) pending: Pending,
    pub(crate) copy: CopyState,
    /// A Bind of the client waits until we know the result columns that its statement has on this connection.
    pub(crate) awaits_shape: bool,
    /// Parameter values of the current turn that are not ASCII. We may have decoded them with the wrong encoding.
    pub(crate) maybe_misdecoded: Vec<(Box<str>, Box<[u8]>)>,
    /// Notices that the server sent for a Parse of our own. The client may get them if that Parse fails.
    pub(crate) withheld_notices: Vec<u8>,
    /// The last ParameterDescription, until the RowDescription or NoData after it has come.
    pub(crate) described: Box<[u8]>,
    /// The statement whose result columns we asked for in this turn.
    pub(crate) shape_asked: Option<StatementId>,
    pub(crate) condition: Condition,
    /// Present when the turn that has ended has reset parameters: if its client keeps the connection, we must set the
    /// client's start-up values again. The list has the names and values to set for the rest of the transaction only.
    pub(crate) resetting: Option<Vec<(Box<str>, Box<str>)>>,
    pub(crate) cancel: Cancel,
    pub(crate) status: TransactionStatus,
    pub(crate) turns: Turns,
    pub(crate) statements: ServerStatements,
    pub(crate) inbox: Inbox,
    pub(crate) outbox: Outbox,
    /// A buffer in which the next client's turn is recorded. It is kept here so that idle clients hold no buffer.
    pub(crate) replay_buffer: Vec<u8>,
    /// What the current chore got from the server.
    pub(crate) chore_answer: Option<ChoreAnswer>,
    /// An outdated or lost statement: the next turn closes it, so that it is prepared again when it is used.
    pub(crate) prepare_again: Option<StatementId>,
    pub(crate) process_id: i32,
    pub(crate) secret: BackendSecret,
    pub(crate) opened: Micros,
    /// When its stage last changed, or its current turn began.
    pub(crate) last_change: Micros,
    /// Turns that its client has begun since it got the connection. The count starts again when the limit finds the
    /// client in a transaction with all its turns answered.
    pub(crate) lent_turns: usize,
    /// Parse messages that were answered without the server.
    pub(crate) hits: u64,
    /// Statements that were prepared here because the server did not have them.
    pub(crate) misses: u64,
}

/// The secret key that a cancel request for this connection must contain. `Debug` does not show it.
#[derive(Default)]
pub(crate) struct BackendSecret(pub(crate) Box<[u8]>);

impl std::fmt::Debug for BackendSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BackendSecret(..)")
    }
}

/// What the server answered to a chore.
#[derive(Debug)]
pub(crate) enum ChoreAnswer {
    /// The whole ErrorResponse.
    Error(Vec<u8>),
    /// The body of the first DataRow.
    Row(Vec<u8>),
}

impl Server {
    pub(crate) fn new(
        opening: Opening,
        pool: PoolId,
        epoch: u64,
        profile: Arc<Profile>,
        now: Micros,
    ) -> Self {
        Self {
            stage: ServerStage::Login(Box::new(opening)),
            pool,
            epoch,
            welcome: None,
            profile,
            rest: Rest::None,
            paused: false,
            awaits_answers: false,
            pending: Pending::default(),
            copy: CopyState::default(),
            awaits_shape: false,
            maybe_misdecoded: Vec::new(),
            withheld_notices: Vec::new(),
            described: Box::default(),
            shape_asked: None,
            condition: Condition::Clean,
            resetting: None,
            cancel: Cancel::None,
            status: TransactionStatus::Idle,
            turns: Turns::default(),
            statements: ServerStatements::default(),
            inbox: Inbox::default(),
            outbox: Outbox::keeping(),
            replay_buffer: Vec::new(),
            chore_answer: None,
            prepare_again: None,
            process_id: 0,
            secret: BackendSecret::default(),
            opened: now,
            last_change: now,
            lent_turns: 0,
            hits: 0,
            misses: 0,
        }
    }

    /// If something is wrong, the connection must not be used again.
    pub(crate) fn condemn_if(&mut self, wrong: bool) {
        if wrong {
            self.condition = Condition::Condemned;
        }
    }

    /// A client of session mode uses it.
    pub(crate) fn mark_used(&mut self) {
        if self.condition == Condition::Clean {
            self.condition = Condition::Used;
        }
    }

    /// The state of its login, until it is logged in.
    pub(crate) fn opening(&self) -> Option<&Opening> {
        match &self.stage {
            ServerStage::Login(opening) => Some(opening),
            _ => None,
        }
    }

    /// Whether its client left before all its turns were answered.
    pub(crate) fn is_abandoned(&self) -> bool {
        matches!(self.stage, ServerStage::Abandoned | ServerStage::Finishing)
    }

    /// Whether we may send the client an answer of our own now: no answer of the server must come before it, and no
    /// message of the server is incomplete.
    #[inline]
    pub(crate) fn owes_nothing(&self) -> bool {
        self.turns.is_empty() && self.rest.is_none()
    }

    /// The client that has it.
    pub(crate) fn lent_to(&self) -> Option<ClientKey> {
        match self.stage {
            ServerStage::Lent(client) => Some(client),
            _ => None,
        }
    }

    /// The client that gets the server's next message, if one does.
    #[inline]
    pub(crate) fn next_receiver(&self) -> Option<ClientKey> {
        match self.turns.owner() {
            Some(Owner::Client(client)) => Some(client),
            Some(Owner::Chore(Chore::Abandoned)) => None,
            Some(Owner::Chore(_)) | None => self.lent_to(),
        }
    }

    /// We have written a Query of our own. Notes the answer that it will get, and that it drops the unnamed statement.
    pub(crate) fn note_query_sent(&mut self, chore: Chore) {
        self.turns.push(Expect::discard(Message::Query, Undo::ServerUnnamed(None)), Owner::Chore(chore));
        self.statements.unnamed = None;
    }

    /// Sends a Query of our own.
    pub(crate) fn query(&mut self, sql: &[u8], chore: Chore) {
        Query { text: sql }.encode(self.outbox.buffer());
        self.note_query_sent(chore);
    }

    /// Whether we know values of parameters that the server does not report.
    pub(crate) fn has_unreported_parameters(&self) -> bool {
        let reports = |name: &str| self.welcome.as_ref().is_some_and(|welcome| welcome.reports(name));
        self.profile.iter().any(|(name, value)| value != UNKNOWN && !reports(name))
    }

    /// Whether `value` is the value that a reset brings back on this connection. True also for a parameter that the
    /// server does not report.
    pub(crate) fn is_own_default(&self, name: &str, value: Option<&str>) -> bool {
        self.welcome
            .as_ref()
            .is_none_or(|welcome| !welcome.reports(name) || welcome.defaults.value(name) == value)
    }

    /// The COPY has failed. Sends the Syncs that its client has sent during the COPY, so that the server answers them.
    pub(crate) fn release_copy_syncs(&mut self) {
        for _ in 0..std::mem::take(&mut self.copy.held_syncs) {
            sync::encode(self.outbox.buffer());
            self.turns.append(Expect::forward(Message::Sync, Undo::Nothing));
        }
    }

    /// Whether an unused connection owes answers, or has sent a part of a message that we did not ask for.
    pub(crate) fn has_unfinished_input(&self) -> bool {
        !self.is_settled() || !self.inbox.is_empty()
    }

    /// Whether no turn is under way, and no answer or rest of a message is still to come.
    #[inline]
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.turns.is_settled() && self.rest.is_none()
    }
}
