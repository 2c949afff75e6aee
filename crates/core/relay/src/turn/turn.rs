//! One turn on a server connection: whose it is, and how far it is.

use super::reply::Place;
use crate::keys::ClientKey;

/// Work of our own on a server connection; its answers reach no client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chore {
    /// Parameters of the client that is about to use the connection.
    Parameters,
    /// A client's start-up parameters, tried to learn whether and how the server takes them.
    Probe,
    /// Checks whether an idle connection still works.
    Check,
    /// ROLLBACK for a client that vanished in a transaction.
    Rollback,
    /// The reset query between two sessions.
    Reset,
    /// The database's `connect_query`.
    Connect,
    /// Looks a user up.
    AuthQuery,
    /// An empty query after a failed COPY: what comes before its answer are the answers to Syncs that were sent early.
    Settle,
    /// The end of a turn whose client vanished.
    Abandoned,
}

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A client's.
    Client(ClientKey),
    /// Ours.
    Chore(Chore),
}

impl Owner {
    /// The client, if it is one.
    #[must_use]
    pub fn client(self) -> Option<ClientKey> {
        match self {
            Self::Client(client) => Some(client),
            Self::Chore(_) => None,
        }
    }
}

/// How far a turn is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing was sent yet that needs a Sync after it.
    Begun,
    /// Messages were sent that no Sync has followed yet.
    Unsynced,
    /// After an error the server skips what it gets until a Sync, and no Sync is on its way.
    Skipping,
    /// All of it is sent. This is the place of its last answer.
    Sent(Place),
}

/// Whether a turn can be played again.
#[derive(Debug, Default)]
pub(crate) enum Record {
    /// It cannot.
    #[default]
    None,
    /// It can: this is what its client has sent.
    Kept(Vec<u8>),
    /// It has failed, and is played again once the server is ready.
    Healing(Vec<u8>),
}

/// What an owner sends up to and including a Sync (or one Query, or one FunctionCall), with all its answers.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) owner: Owner,
    pub(crate) phase: Phase,
    /// Something of it has been passed to its client.
    pub(crate) answered: bool,
    /// Its client wants it cancelled, which waits until it can hit no other client.
    pub(crate) cancel_wanted: bool,
    pub(crate) record: Record,
}

impl Turn {
    pub(crate) fn new(owner: Owner) -> Self {
        Self { owner, phase: Phase::Begun, answered: false, cancel_wanted: false, record: Record::None }
    }

    /// Whether more of it is to come.
    pub(crate) fn is_open(&self) -> bool {
        !matches!(self.phase, Phase::Sent(_))
    }

    /// The client whose it is.
    pub(crate) fn client(&self) -> Option<ClientKey> {
        self.owner.client()
    }

    /// Where what ends it stands, if that was sent.
    pub(crate) fn end(&self) -> Option<Place> {
        match self.phase {
            Phase::Sent(end) => Some(end),
            _ => None,
        }
    }
}
