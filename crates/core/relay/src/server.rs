//! A server connection as the board knows it.

use std::sync::Arc;

use trunkline_pool::{Micros, PoolId};
use trunkline_session::frontend::Login;
use trunkline_wire::backend::TransactionStatus;
use trunkline_wire::frontend::{Query, sync};

use crate::ClientKey;
use crate::board::Welcome;
use crate::inbox::Inbox;
use crate::outbox::Outbox;
use crate::parameters::{Profile, UNKNOWN};
use crate::prepared::ServerStatements;
use crate::turn::{Chore, Expect, Message, Owner, Turns, Undo, Unsettled};

/// Where a server connection is.
#[derive(Debug)]
pub enum ServerStage {
    /// Not connected, or not logged in yet.
    Login(Box<Login>),
    /// Logged in, on its pool's idle list.
    Idle,
    /// Lent to a client.
    Lent(ClientKey),
    /// Busy with work of our own; nobody's.
    Chore(Chore),
    /// Finishing a turn whose client vanished.
    Abandoned,
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
    pub(crate) frame_left: usize,
    pub(crate) frame_dropped: bool,
    pub(crate) paused: bool,
    /// TLS was begun.
    pub(crate) encrypted: bool,
    /// It logs in by the target's second way of TLS.
    pub(crate) otherwise: bool,
    /// The other way of TLS has failed already.
    pub(crate) last_try: bool,
    /// The connection is not established yet.
    pub(crate) dialling: bool,
    /// The client's next message waits for the end of an earlier turn: what a name of it means is not known before.
    pub(crate) undecided: bool,
    /// Whether messages under way may change settings.
    pub(crate) unsettled: Unsettled,
    /// A command that changes definitions was run in the transaction under way.
    pub(crate) redefines: bool,
    /// The client has sent what may begin a transaction in the turns under way.
    pub(crate) begins: bool,
    /// The client has prepared or bound a DEALLOCATE or DISCARD in the turns under way.
    pub(crate) forgets: bool,
    /// The client's CopyData is what the server waits for.
    pub(crate) copy_in: bool,
    /// Syncs that the client has sent into its COPY. The server would ignore them unless the COPY fails before it reads
    /// them, which cannot be told apart: they are sent on when it has failed, or not at all.
    pub(crate) copy_syncs: usize,
    /// So many Syncs are on their way to a COPY, which ignores them unless it fails before the server reads them.
    pub(crate) copy_synced: usize,
    /// A COPY has failed: so many Syncs that it was sent early may be answered yet, before anything else is.
    pub(crate) early_syncs: usize,
    /// A Bind of the client waits until it is known what its statement's result is here.
    pub(crate) awaits_shape: bool,
    /// Values of the report under way that are not ASCII: they may have been read in another encoding than they are in.
    pub(crate) misread: Vec<(Box<str>, Box<[u8]>)>,
    /// What the server has said of a Parse of ours: its client's to hear should it fail.
    pub(crate) withheld: Vec<u8>,
    /// The ParameterDescription that came last, while what it is part of is not complete.
    pub(crate) described: Box<[u8]>,
    /// The statement whose result was asked for in this turn.
    pub(crate) shape_asked: u64,
    /// Its client said good-bye behind complete turns: they run to their end, as they would on a direct connection.
    pub(crate) unhurried: bool,
    /// A whole session used it: it is reset before the next.
    pub(crate) worn: bool,
    /// It must not be used again (a cancel or a chore went wrong).
    pub(crate) condemned: bool,
    /// The turn that has ended has reset parameters: where its client keeps the connection, what it set at start-up has
    /// to come back. With what has to come back for the rest of the transaction only, and its value.
    pub(crate) resetting: Option<Vec<(Box<str>, Box<str>)>>,
    /// A cancel for it is under way.
    pub(crate) cancelling: bool,
    /// Another cancel was asked for meanwhile.
    pub(crate) cancel_again: bool,
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
    pub(crate) heal: u64,
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

/// By what a server's queries are cancelled. `Debug` does not show it.
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
    pub(crate) fn new(login: Login, pool: PoolId, epoch: u64, profile: Arc<Profile>, now: Micros) -> Self {
        Self {
            stage: ServerStage::Login(Box::new(login)),
            pool,
            epoch,
            welcome: None,
            profile,
            frame_left: 0,
            frame_dropped: false,
            paused: false,
            encrypted: false,
            otherwise: false,
            last_try: false,
            dialling: true,
            undecided: false,
            unsettled: Unsettled::default(),
            redefines: false,
            begins: false,
            forgets: false,
            copy_in: false,
            copy_syncs: 0,
            copy_synced: 0,
            early_syncs: 0,
            awaits_shape: false,
            misread: Vec::new(),
            withheld: Vec::new(),
            described: Box::default(),
            shape_asked: 0,
            unhurried: false,
            worn: false,
            condemned: false,
            resetting: None,
            cancelling: false,
            cancel_again: false,
            status: TransactionStatus::Idle,
            turns: Turns::default(),
            statements: ServerStatements::default(),
            inbox: Inbox::default(),
            outbox: Outbox::keeping(),
            replay_buffer: Vec::new(),
            chore_answer: None,
            heal: 0,
            process_id: 0,
            secret: BackendSecret::default(),
            opened: now,
            since: now,
            lent_turns: 0,
            hits: 0,
            misses: 0,
        }
    }

    /// Whether an answer of ours may go to the client now: no answer of the server's comes before it, and none is cut
    /// in the middle.
    #[inline]
    pub(crate) fn owes_nothing(&self) -> bool {
        self.turns.is_empty() && self.frame_left == 0
    }

    /// The client that has it.
    pub(crate) fn lent_to(&self) -> Option<ClientKey> {
        match self.stage {
            ServerStage::Lent(client) => Some(client),
            _ => None,
        }
    }

    /// A Query of ours was written: what it will be answered, and that it drops the unnamed statement, is noted.
    pub(crate) fn owes_query(&mut self, chore: Chore) {
        self.turns.push(Expect::skip(Message::Query, Undo::Unnamed(0)), Owner::Chore(chore));
        self.statements.unnamed = 0;
    }

    /// Sends a Query of ours.
    pub(crate) fn query(&mut self, sql: &[u8], chore: Chore) {
        Query { text: sql }.encode(self.outbox.buffer());
        self.owes_query(chore);
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
        for _ in 0..std::mem::take(&mut self.copy_syncs) {
            sync::encode(self.outbox.buffer());
            self.turns.append(Expect::forward(Message::Sync, Undo::Nothing));
        }
    }

    /// Whether it is in the middle of something, if only of a message that nobody has asked for: of a connection that
    /// nobody uses.
    pub(crate) fn has_strays(&self) -> bool {
        !self.is_settled() || !self.inbox.is_empty()
    }

    /// Whether no turn is under way and nothing was sent that still wants an answer.
    #[inline]
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.turns.is_settled() && self.frame_left == 0
    }
}
