//! One turn on a server connection: its owner, and how much of it was sent.

use super::reply::Place;
use crate::keys::ClientKey;

/// A command that we ourselves send on a server connection. Its answers reach no client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chore {
    /// Sets the parameters of the client that will use the connection next.
    Parameters,
    /// Tries a client's start-up parameters, to learn whether the server accepts them, and which values it gives them.
    Probe,
    /// Checks whether an idle connection still works.
    Check,
    /// Runs ROLLBACK after a client vanished in a transaction.
    Rollback,
    /// Runs the reset query between two sessions.
    Reset,
    /// Runs the database's `connect_query`.
    Connect,
    /// Runs `auth_query` to look up a user's password.
    AuthQuery,
    /// An empty query after a failed COPY. A ReadyForQuery that comes before its answer answers a Sync that was sent
    /// during the COPY.
    Settle,
    /// The rest of a turn whose client has gone.
    Abandoned,
}

/// The owner of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// This client.
    Client(ClientKey),
    /// We ourselves.
    Chore(Chore),
}

impl Owner {
    /// The client, if a client is the owner.
    #[must_use]
    pub fn client(self) -> Option<ClientKey> {
        match self {
            Self::Client(client) => Some(client),
            Self::Chore(_) => None,
        }
    }
}

/// How much of a turn was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing that needs a Sync after it.
    Begun,
    /// Messages after which no Sync was sent yet.
    Unsynced,
    /// The server has reported an error and skips all messages up to a Sync, but no Sync was sent yet.
    Skipping,
    /// All of it. This is the place of its last answer.
    Sent(Place),
}

/// Whether a turn can be repeated.
#[derive(Debug, Default)]
pub(crate) enum Record {
    /// It cannot.
    #[default]
    None,
    /// It can. These are its client's messages.
    Kept(Vec<u8>),
    /// It has failed, and we repeat it when the server is ready. These are its client's messages.
    Healing(Vec<u8>),
}

/// The messages of one owner up to and including a Sync (or one Query, or one FunctionCall), with all their answers.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) owner: Owner,
    pub(crate) phase: Phase,
    /// Whether its client has received any of its answers.
    pub(crate) answered: bool,
    /// Whether its client wants to cancel it. The cancel request waits until it can hit no other client's turn.
    pub(crate) cancel_wanted: bool,
    pub(crate) record: Record,
}

impl Turn {
    pub(crate) fn new(owner: Owner) -> Self {
        Self { owner, phase: Phase::Begun, answered: false, cancel_wanted: false, record: Record::None }
    }

    /// Whether its client may still add messages.
    pub(crate) fn is_open(&self) -> bool {
        !matches!(self.phase, Phase::Sent(_))
    }

    /// The client that owns it.
    pub(crate) fn client(&self) -> Option<ClientKey> {
        self.owner.client()
    }

    /// The place of its last answer, if all of it was sent.
    pub(crate) fn end(&self) -> Option<Place> {
        match self.phase {
            Phase::Sent(end) => Some(end),
            _ => None,
        }
    }
}
