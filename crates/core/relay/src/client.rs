//! A client connection as the board knows it.

use std::sync::Arc;

use trunkline_pool::{Micros, PoolId};
use trunkline_session::backend::{CancelKey, Login};
use trunkline_wire::backend::{ReadyForQuery, TransactionStatus};

use crate::carried::Pins;
use crate::carried::parameters::Profile;
use crate::carried::prepared::{ClientStatements, Named, Statement, Unread};
use crate::carried::resets::Resets;
use crate::inbox::Inbox;
use crate::keys::ServerKey;
use crate::outbox::Outbox;
use crate::rest::Rest;

/// Why a client asks for a server connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// For a turn.
    Turn,
    /// To have its start-up parameters tried, before it is welcome.
    Probe,
    /// For as long as it stays (session mode), before it is welcome.
    Session,
    /// To look its password up (in another pool).
    AuthQuery,
}

/// Where a client is.
#[derive(Debug)]
pub enum Stage {
    /// Talking to its login machine.
    Login,
    /// Logged in, without a server connection.
    Idle,
    /// In a pool's queue.
    Waiting(Purpose),
    /// Lent a server connection.
    Linked(ServerKey, Purpose),
    /// Owed answers by a server connection that another client has by now.
    Owed(ServerKey),
    /// A cancel request: its connection is closed when the request is delivered.
    Cancelling,
}

/// How a client's next messages are treated after we have answered its turn with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterError {
    /// Nothing: there was none, or the turn is over.
    Nothing,
    /// We have answered its next turn already: it is not run.
    SkipNextTurn,
    /// What comes up to its Sync is dropped.
    SkipToSync,
}

/// What only a login needs; dropped when it is over.
#[derive(Debug)]
pub(crate) struct LoginState {
    /// The protocol machine.
    pub machine: Login,
    /// What the client asked for, once known.
    pub request: Option<Box<trunkline_session::backend::StartupParameters>>,
    /// What the client was checked against, if there was anything.
    pub stored: Option<trunkline_session::authentication::Secret>,
    /// What it waits for, while its user is looked up.
    pub look_up: Option<crate::board::LookUp>,
    /// It has sent something and waits for its share of a round.
    pub in_line: bool,
}

/// What a cancel request for this client must contain.
#[derive(Debug)]
pub(crate) struct CancelIdentity {
    /// The process id it was given.
    pub process_id: i32,
    /// The secret it was given.
    pub key: CancelKey,
}

/// What turns under way leave to be done.
#[derive(Debug, Default)]
pub(crate) struct TurnLeftovers {
    /// Statements of which it is not known how they are read.
    pub(crate) unread: Unread,
    /// Portals of statements that change the session: what they change is changed when they are executed.
    pub(crate) portals: Vec<(Box<[u8]>, Arc<Statement>)>,
}

/// A client connection.
#[derive(Debug)]
pub struct Client {
    pub(crate) stage: Stage,
    /// Until it is welcome.
    pub(crate) login: Option<Box<LoginState>>,
    /// The pool it waits in or uses, if any; another than `home_pool` while its password is looked up.
    pub(crate) pool: Option<PoolId>,
    /// The pool of its database and user, which counts it among its clients, once it has logged in.
    pub(crate) home_pool: Option<PoolId>,
    pub(crate) profile: Arc<Profile>,
    /// What it had when it was welcomed: what RESET brings back.
    pub(crate) startup: Arc<Profile>,
    /// What it has, or may have, of its session on its server connection alone (`auto` mode).
    pub(crate) pins: Pins,
    /// Of what waits: whole messages of a turn whose end has not come.
    pub(crate) gathered: u32,
    /// What is still to come of a message from it.
    pub(crate) rest: Rest,
    pub(crate) after_error: AfterError,
    /// Whether the shell must not read from the client: what it sent before waits, or TLS begins.
    pub(crate) paused: bool,
    /// Its share of the round is used up: what waits of it is dealt with in the next one.
    pub(crate) resting: bool,
    /// Whether its named statements are tracked (transaction and statement mode).
    pub(crate) tracked: bool,
    /// Output waits for the server's next answer: the client has sent no Flush or Sync.
    pub(crate) held: bool,
    /// Bytes received and not dealt with.
    pub(crate) inbox: Inbox,
    pub(crate) outbox: Outbox,
    pub(crate) statements: Option<Box<ClientStatements>>,
    pub(crate) unnamed: Option<Arc<Statement>>,
    /// What turns under way leave to be done: most leave nothing.
    pub(crate) leftovers: Option<Box<TurnLeftovers>>,
    /// What the turn under way resets: the client's start-up values come back.
    pub(crate) resets: Option<Box<Resets>>,
    /// ParseComplete messages that we have sent ourselves in this turn.
    pub(crate) parse_completes_sent: u32,
    /// While a turn is played again: how many Parse messages, still to come, the client has already had answered.
    pub(crate) replay_parses_answered: u32,
    /// What the unnamed portal was bound from in this turn.
    pub(crate) bound: Option<Arc<Named>>,
    /// Once it is welcome.
    pub(crate) identity: Option<CancelIdentity>,
    /// When it was accepted.
    pub(crate) accepted: Micros,
    /// The last time something came from it, or its stage changed.
    pub(crate) since: Micros,
}

impl Client {
    pub(crate) fn new(login: LoginState, profile: Arc<Profile>, now: Micros) -> Self {
        Self {
            stage: Stage::Login,
            login: Some(Box::new(login)),
            pool: None,
            home_pool: None,
            startup: Arc::clone(&profile),
            profile,
            pins: Pins::NONE,
            gathered: 0,
            rest: Rest::None,
            after_error: AfterError::Nothing,
            paused: false,
            resting: false,
            tracked: false,
            held: false,
            inbox: Inbox::default(),
            outbox: Outbox::default(),
            statements: None,
            unnamed: None,
            leftovers: None,
            resets: None,
            parse_completes_sent: 0,
            replay_parses_answered: 0,
            bound: None,
            identity: None,
            accepted: now,
            since: now,
        }
    }

    /// What turns under way leave to be done.
    pub(crate) fn leftovers(&mut self) -> &mut TurnLeftovers {
        self.leftovers.get_or_insert_default()
    }

    /// Portals whose running changes the session.
    #[inline]
    pub(crate) fn portals(&self) -> &[(Box<[u8]>, Arc<Statement>)] {
        self.leftovers.as_deref().map_or(&[], |left| &left.portals)
    }

    /// Call it when all turns are answered: their statements were read under the settings of now.
    #[inline]
    pub(crate) fn turns_answered(&mut self) {
        let Some(left) = &mut self.leftovers else { return };
        left.unread.read_under(&self.profile);
        if left.portals.is_empty() {
            self.leftovers = None;
        }
    }

    /// No portal outlives the transaction.
    #[inline]
    pub(crate) fn forget_portals(&mut self) {
        if let Some(left) = &mut self.leftovers {
            left.portals.clear();
        }
    }

    /// The server connection it is lent.
    #[must_use]
    pub fn server(&self) -> Option<ServerKey> {
        match self.stage {
            Stage::Linked(server, _) => Some(server),
            _ => None,
        }
    }

    /// The server connection that it is lent, or owed answers by.
    pub(crate) fn answered_by(&self) -> Option<ServerKey> {
        match self.stage {
            Stage::Linked(server, _) | Stage::Owed(server) => Some(server),
            _ => None,
        }
    }

    /// This many of its turns are answered with an error.
    pub(crate) fn fail_turns(&mut self, turns: usize, error: &[u8]) {
        for _ in 0..turns {
            self.outbox.push(error);
            ReadyForQuery { status: TransactionStatus::Idle }.encode(self.outbox.buffer());
        }
    }

    /// Whether it has a server connection for what it asks, and not for its login.
    pub(crate) fn runs_turns(&self) -> bool {
        matches!(self.stage, Stage::Linked(_, Purpose::Turn | Purpose::Session) | Stage::Owed(_))
    }

    pub(crate) fn statements(&mut self) -> &mut ClientStatements {
        self.statements.get_or_insert_default()
    }
}
