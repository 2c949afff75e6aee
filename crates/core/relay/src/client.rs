//! What the board stores about a client connection.

use std::sync::Arc;

use trunkline_pool::{Micros, PoolId};
use trunkline_session::backend::{CancelKey, Login};
use trunkline_wire::backend::{ReadyForQuery, TransactionStatus};

use crate::carried::Pins;
use crate::carried::parameters::Profile;
use crate::carried::prepared::{ClientStatements, Named, Statement, WithoutParseSettings};
use crate::carried::resets::Resets;
use crate::inbox::Inbox;
use crate::keys::ServerKey;
use crate::outbox::Outbox;
use crate::rest::Rest;

/// What a client needs a server connection for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To run a turn.
    Turn,
    /// To try the client's start-up parameters on a server, before its login is complete.
    Probe,
    /// To keep it until the client leaves (session mode). The client gets it before its login is complete.
    Session,
    /// To look up the client's password. The connection is of another pool.
    AuthQuery,
}

/// What a client is doing now.
#[derive(Debug)]
pub enum Stage {
    /// It logs in.
    Login,
    /// It is logged in and has no server connection.
    Idle,
    /// It waits in a pool's queue.
    Waiting(Purpose),
    /// It has a server connection.
    Linked(ServerKey, Purpose),
    /// This server connection still owes it answers, but another client has the connection now.
    Owed(ServerKey),
    /// It has sent a cancel request. We close its connection when the request has reached the server.
    Cancelling,
}

/// What happens to a client's next messages after we have answered its turn with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterError {
    /// Nothing special: there was no such error, or its turn is over.
    Nothing,
    /// We have already answered its next turn, so that turn does not run.
    SkipNextTurn,
    /// We drop everything up to the next Sync.
    SkipToSync,
}

/// State that only a login needs. It is dropped when the login is complete.
#[derive(Debug)]
pub(crate) struct LoginState {
    /// The protocol machine.
    pub machine: Login,
    /// The client's start-up parameters, once it has sent them.
    pub request: Option<Box<trunkline_session::backend::StartupParameters>>,
    /// The secret that the client's proof was checked against, if there was one.
    pub stored: Option<trunkline_session::authentication::Secret>,
    /// The look-up of its password that it waits for.
    pub look_up: Option<crate::board::LookUp>,
    /// It has sent bytes and waits for a round that has time for them.
    pub waits_for_share: bool,
}

/// The values that a cancel request for this client must contain.
#[derive(Debug)]
pub(crate) struct CancelIdentity {
    /// The process id that we gave the client.
    pub process_id: i32,
    /// The secret that we gave the client.
    pub key: CancelKey,
}

/// Statements and portals of unfinished turns that later answers or messages still need.
#[derive(Debug, Default)]
pub(crate) struct TurnLeftovers {
    /// Statements that the server parses under settings that we do not know yet.
    pub(crate) without_parse_settings: WithoutParseSettings,
    /// Portals whose execution changes the session, each with its statement.
    pub(crate) portals: Vec<(Box<[u8]>, Arc<Statement>)>,
}

/// A client connection.
#[derive(Debug)]
pub struct Client {
    pub(crate) stage: Stage,
    /// Present until the login is complete.
    pub(crate) login: Option<Box<LoginState>>,
    /// The pool that it waits for or uses, if any. It differs from `home_pool` only while the client's password is looked up.
    pub(crate) pool: Option<PoolId>,
    /// The pool of its database and user, which counts the client, once it has logged in.
    pub(crate) home_pool: Option<PoolId>,
    /// Its parameters now.
    pub(crate) profile: Arc<Profile>,
    /// Its parameters when its login was complete. RESET brings them back.
    pub(crate) startup: Arc<Profile>,
    /// The kinds of session state that it has, or may have, on its server connection alone (`auto` mode).
    pub(crate) pins: Pins,
    /// How many bytes of the inbox are whole messages of a turn whose end has not come.
    pub(crate) gathered: u32,
    /// The rest of a message of which we have handled the beginning.
    pub(crate) rest: Rest,
    pub(crate) after_error: AfterError,
    /// Whether the shell must not read from the client: bytes that it sent earlier still wait, or TLS begins.
    pub(crate) paused: bool,
    /// It has used up its share of this round. The bytes that it sent wait for the next round.
    pub(crate) round_share_used: bool,
    /// Whether we track its named statements (transaction and statement mode).
    pub(crate) tracked: bool,
    /// The output for it waits for the server's next answer, because the client has sent no Flush or Sync.
    pub(crate) output_held: bool,
    /// Bytes that we received and have not processed.
    pub(crate) inbox: Inbox,
    pub(crate) outbox: Outbox,
    pub(crate) statements: Option<Box<ClientStatements>>,
    pub(crate) unnamed: Option<Arc<Statement>>,
    /// Absent for most clients.
    pub(crate) leftovers: Option<Box<TurnLeftovers>>,
    /// The parameters that the current turn resets. They get the client's start-up values back.
    pub(crate) resets: Option<Box<Resets>>,
    /// How many ParseComplete messages we have sent in this turn without asking the server.
    pub(crate) parse_completes_sent: u32,
    /// While we repeat a turn: how many of its remaining Parse messages the client has already got an answer to.
    pub(crate) replay_parses_answered: u32,
    /// The named statement from which the unnamed portal was bound in this turn.
    pub(crate) unnamed_portal: Option<Arc<Named>>,
    /// Present when the login is complete.
    pub(crate) identity: Option<CancelIdentity>,
    /// When we accepted the connection.
    pub(crate) accepted: Micros,
    /// When it last sent something, or its stage last changed.
    pub(crate) last_active: Micros,
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
            round_share_used: false,
            tracked: false,
            output_held: false,
            inbox: Inbox::default(),
            outbox: Outbox::default(),
            statements: None,
            unnamed: None,
            leftovers: None,
            resets: None,
            parse_completes_sent: 0,
            replay_parses_answered: 0,
            unnamed_portal: None,
            identity: None,
            accepted: now,
            last_active: now,
        }
    }

    /// The leftovers, created if there are none.
    pub(crate) fn leftovers(&mut self) -> &mut TurnLeftovers {
        self.leftovers.get_or_insert_default()
    }

    /// Portals whose execution changes the session, each with its statement.
    #[inline]
    pub(crate) fn portals(&self) -> &[(Box<[u8]>, Arc<Statement>)] {
        self.leftovers.as_deref().map_or(&[], |left| &left.portals)
    }

    /// All turns are answered. So the server parsed their statements under the settings that the client has now.
    #[inline]
    pub(crate) fn turns_answered(&mut self) {
        let Some(left) = &mut self.leftovers else { return };
        left.without_parse_settings.set_parse_settings(&self.profile);
        if left.portals.is_empty() {
            self.leftovers = None;
        }
    }

    /// The transaction has ended, and its portals with it.
    #[inline]
    pub(crate) fn forget_portals(&mut self) {
        if let Some(left) = &mut self.leftovers {
            left.portals.clear();
        }
    }

    /// The server connection that the client has.
    #[must_use]
    pub fn server(&self) -> Option<ServerKey> {
        match self.stage {
            Stage::Linked(server, _) => Some(server),
            _ => None,
        }
    }

    /// The server connection that the client has, or that still owes it answers.
    pub(crate) fn answered_by(&self) -> Option<ServerKey> {
        match self.stage {
            Stage::Linked(server, _) | Stage::Owed(server) => Some(server),
            _ => None,
        }
    }

    /// Answers this many of its turns with an error.
    pub(crate) fn fail_turns(&mut self, turns: usize, error: &[u8]) {
        for _ in 0..turns {
            self.outbox.push(error);
            ReadyForQuery { status: TransactionStatus::Idle }.encode(self.outbox.buffer());
        }
    }

    /// Whether a server connection runs its turns (and does not only serve its login).
    pub(crate) fn runs_turns(&self) -> bool {
        matches!(self.stage, Stage::Linked(_, Purpose::Turn | Purpose::Session) | Stage::Owed(_))
    }

    pub(crate) fn statements(&mut self) -> &mut ClientStatements {
        self.statements.get_or_insert_default()
    }
}
