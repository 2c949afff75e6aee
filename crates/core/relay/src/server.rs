//! A server connection as the board knows it.

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

/// Where a server connection is.
#[derive(Debug)]
pub enum ServerStage {
    /// Not connected, or not logged in yet.
    Login(Box<Opening>),
    /// Logged in, on its pool's idle list.
    Idle,
    /// Lent to a client.
    Lent(ClientKey),
    /// Busy with work of our own; nobody's.
    Chore(Chore),
    /// Finishing the turns of a client that said good-bye after them: they run to their end, as they would on a direct
    /// connection.
    Finishing,
    /// Finishing a turn whose client vanished.
    Abandoned,
}

/// A server connection that is not logged in yet.
#[derive(Debug)]
pub struct Opening {
    pub(crate) login: Login,
    pub(crate) reached: Reached,
    pub(crate) way: TlsWay,
    /// The other way of TLS has failed already.
    pub(crate) last_try: bool,
}

/// How far the connection itself is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    /// It is not established yet.
    Nothing,
    /// It is established.
    Server,
    /// TLS was begun.
    Tls,
}

/// Whether a cancel for the connection is under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Cancel {
    #[default]
    None,
    UnderWay,
    /// And another was asked for meanwhile.
    Again,
}

/// What must be done before the next client gets the connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Condition {
    #[default]
    Clean,
    /// A client of session mode used it. It must be reset first.
    Used,
    /// A cancel or a chore went wrong: nobody gets it.
    Condemned,
}

/// A server connection.
#[derive(Debug)]
pub struct Server {
    pub(crate) stage: ServerStage,
    pub(crate) pool: PoolId,
    /// The settings' generation under which it was opened.
    pub(crate) epoch: u64,
    /// The parameters it has now.
    pub(crate) profile: Arc<Profile>,
    /// What it said of itself after login: what a reset brings back.
    pub(crate) welcome: Option<Arc<Welcome>>,
    /// What is still to come of a message from it.
    pub(crate) rest: Rest,
    pub(crate) paused: bool,
    /// The client's next message waits until an earlier turn ends: only then is known which statement its name means.
    pub(crate) undecided: bool,
    pub(crate) pending: Pending,
    pub(crate) copy: CopyState,
    /// A Bind of the client waits until it is known what its statement's result is here.
    pub(crate) awaits_shape: bool,
    /// Values of the report under way that are not ASCII: they may have been read in another encoding than they are in.
    pub(crate) maybe_misdecoded: Vec<(Box<str>, Box<[u8]>)>,
    /// Notices that the server sent for a Parse of ours. The client gets them if that Parse fails.
    pub(crate) withheld_notices: Vec<u8>,
    /// The last ParameterDescription, until the rest of its answer has come.
    pub(crate) described: Box<[u8]>,
    /// The statement whose result was asked for in this turn.
    pub(crate) shape_asked: Option<StatementId>,
    pub(crate) condition: Condition,
    /// The turn that has ended has reset parameters: where its client keeps the connection, what it set at start-up has
    /// to come back. With what has to come back for the rest of the transaction only, and its value.
    pub(crate) resetting: Option<Vec<(Box<str>, Box<str>)>>,
    pub(crate) cancel: Cancel,
    pub(crate) status: TransactionStatus,
    pub(crate) turns: Turns,
    pub(crate) statements: ServerStatements,
    pub(crate) inbox: Inbox,
    pub(crate) outbox: Outbox,
    /// Room for the recorded turn of whichever client uses it next: idle clients hold none.
    pub(crate) replay_buffer: Vec<u8>,
    /// What a chore brought back: the error's message, or the first row.
    pub(crate) chore_answer: Option<ChoreAnswer>,
    /// The statement that a turn is played again for.
    pub(crate) heal: Option<StatementId>,
    pub(crate) process_id: i32,
    pub(crate) secret: BackendSecret,
    pub(crate) opened: Micros,
    /// When its stage changed, or its turn began.
    pub(crate) since: Micros,
    /// Turns that its client has begun since it was lent, or since a transaction had all its turns answered.
    pub(crate) lent_turns: usize,
    pub(crate) hits: u64,
    pub(crate) misses: u64,
}

/// The secret by which a query on this connection is cancelled. `Debug` does not show it.
#[derive(Default)]
pub(crate) struct BackendSecret(pub(crate) Box<[u8]>);

impl std::fmt::Debug for BackendSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BackendSecret(..)")
    }
}

/// What came back for a chore.
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
            undecided: false,
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
            heal: None,
            process_id: 0,
            secret: BackendSecret::default(),
            opened: now,
            since: now,
            lent_turns: 0,
            hits: 0,
            misses: 0,
        }
    }

    /// It must not be used again, if that is so.
    pub(crate) fn condemn_if(&mut self, wrong: bool) {
        if wrong {
            self.condition = Condition::Condemned;
        }
    }

    /// A whole session uses it.
    pub(crate) fn wear_out(&mut self) {
        if self.condition == Condition::Clean {
            self.condition = Condition::Used;
        }
    }

    /// The connection as long as it is not logged in.
    pub(crate) fn opening(&self) -> Option<&Opening> {
        match &self.stage {
            ServerStage::Login(opening) => Some(opening),
            _ => None,
        }
    }

    /// Whether its client has gone before its turns were over.
    pub(crate) fn is_abandoned(&self) -> bool {
        matches!(self.stage, ServerStage::Abandoned | ServerStage::Finishing)
    }

    /// Whether an answer of ours may go to the client now: no answer of the server's comes before it, and none is cut
    /// in the middle.
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

    /// The client that gets what comes next, if one does.
    #[inline]
    pub(crate) fn speaks_to(&self) -> Option<ClientKey> {
        match self.turns.owner() {
            Some(Owner::Client(client)) => Some(client),
            Some(Owner::Chore(Chore::Abandoned)) => None,
            Some(Owner::Chore(_)) | None => self.lent_to(),
        }
    }

    /// A Query of ours was written: what it will be answered, and that it drops the unnamed statement, is noted.
    pub(crate) fn note_query_sent(&mut self, chore: Chore) {
        self.turns.push(Expect::skip(Message::Query, Undo::Unnamed(None)), Owner::Chore(chore));
        self.statements.unnamed = None;
    }

    /// Sends a Query of ours.
    pub(crate) fn query(&mut self, sql: &[u8], chore: Chore) {
        Query { text: sql }.encode(self.outbox.buffer());
        self.note_query_sent(chore);
    }

    /// Whether the values of some parameters are known that the server does not report.
    pub(crate) fn knows_parameters(&self) -> bool {
        let reports = |name: &str| self.welcome.as_ref().is_some_and(|welcome| welcome.reports(name));
        self.profile.iter().any(|(name, value)| value != UNKNOWN && !reports(name))
    }

    /// Whether a parameter has the value that a reset brings back on this connection.
    pub(crate) fn is_own_default(&self, name: &str, value: Option<&str>) -> bool {
        self.welcome
            .as_ref()
            .is_none_or(|welcome| !welcome.reports(name) || welcome.defaults.value(name) == value)
    }

    /// The COPY has failed: the Syncs that its client has sent into it are answered.
    pub(crate) fn release_copy_syncs(&mut self) {
        for _ in 0..std::mem::take(&mut self.copy.held_syncs) {
            sync::encode(self.outbox.buffer());
            self.turns.append(Expect::forward(Message::Sync, Undo::Nothing));
        }
    }

    /// Whether it is in the middle of something, if only of a message that nobody has asked for: of a connection that
    /// nobody uses.
    pub(crate) fn has_unfinished_input(&self) -> bool {
        !self.is_settled() || !self.inbox.is_empty()
    }

    /// Whether no turn is under way and nothing was sent that still wants an answer.
    #[inline]
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.turns.is_settled() && self.rest.is_none()
    }
}
