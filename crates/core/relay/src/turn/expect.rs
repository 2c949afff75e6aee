//! An answer that we expect from a server connection, and what we must put back if its message fails.

use std::sync::Arc;

use crate::carried::prepared::{Named, Statement, StatementId};

/// An expected answer: the message that it answers, who gets it, and what we put back if the message fails.
#[derive(Debug)]
pub struct Expect {
    /// The message that the server was sent.
    pub message: Message,
    /// Who gets the answer.
    pub fate: Fate,
    /// What we changed when we sent the message.
    pub undo: Undo,
}

/// A message that was sent. Its type says how the server answers.
#[derive(Debug)]
pub enum Message {
    /// ParseComplete.
    Parse(Subject),
    /// BindComplete.
    Bind(Subject),
    /// ParameterDescription (for a statement), then RowDescription or NoData. The answer for a named statement, or for
    /// a portal bound from one, tells the client the statement's result columns.
    Describe(Subject),
    /// CommandComplete, EmptyQueryResponse or PortalSuspended after rows or a COPY.
    Execute,
    /// An Execute of a SELECT of our own: one row, then CommandComplete. If the SELECT asks for the settings under
    /// which the server has parsed a statement, this is the statement.
    Select(Option<Arc<Statement>>),
    /// CloseComplete.
    Close,
    /// CopyDone or CopyFail. They have no answer of their own. Up to here the server ignores Syncs during a COPY.
    CopyEnd,
    /// ReadyForQuery.
    Sync,
    /// Any answers, then ReadyForQuery.
    Query,
    /// FunctionCallResponse or an error, then ReadyForQuery.
    FunctionCall,
}

/// Who gets an answer, and from whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The client gets the server's answer.
    Forward,
    /// We drop the server's answer and the notices that come with it, because the message was our own.
    Discard,
    /// We did not send the message to the server. We answer the client ourselves after all earlier answers (for CopyEnd
    /// we send nothing).
    AnswerLocally,
}

/// What we put back if a message fails, if the server skips it, or if the server is lost before it answers.
#[derive(Debug)]
pub enum Undo {
    /// The message changed nothing.
    Nothing,
    /// The message prepared the statement on the server, and gave the client this name for it.
    PreparedAs(Arc<Statement>, Box<[u8]>),
    /// The message prepared the statement on the server. The client had it before.
    Prepared(Arc<Statement>),
    /// The message gave the client this name.
    NameAdded(Box<[u8]>),
    /// The message closed this statement on the server.
    Closed(Arc<Statement>),
    /// The message removed this name from the client. It had named this statement.
    NameRemoved(Box<[u8]>, Arc<Statement>),
    /// The message changed the server's unnamed statement. This was the one before, if there was one.
    ServerUnnamed(Option<StatementId>),
    /// The message changed the unnamed statements of the server and of the client. These were the ones before.
    BothUnnamed(Option<StatementId>, Option<Arc<Statement>>),
}

/// The statement that a message concerns.
#[derive(Debug)]
pub enum Subject {
    /// A statement that we do not track, or a portal that was not bound from a named statement.
    Untracked,
    /// An untracked statement, or a name that is in use already: we sent the server another name than the client's.
    Renamed(Box<Renamed>),
    /// A statement of which we know only the number: the client's unnamed one.
    Numbered(StatementId),
    /// A named statement of the client.
    Named(Arc<Named>),
    /// A statement whose result columns are no longer those that the client was told. We sent the server a name that it
    /// does not have, so that the message fails.
    Outdated,
}

/// The two names of a statement.
#[derive(Debug)]
pub struct Renamed {
    /// The client's name.
    pub own: Box<[u8]>,
    /// The name that we sent to the server.
    pub sent: Box<[u8]>,
}

impl Subject {
    /// The statement with this number, if there is one.
    pub(super) fn numbered(id: Option<StatementId>) -> Self {
        id.map_or(Self::Untracked, Self::Numbered)
    }

    /// A statement for which we sent the server another name than the client's `own`.
    #[must_use]
    pub fn renamed(own: &[u8], sent: &[u8]) -> Self {
        Self::Renamed(Box::new(Renamed { own: own.into(), sent: sent.into() }))
    }

    /// The statement's number, if we track the statement.
    #[must_use]
    pub fn id(&self) -> Option<StatementId> {
        match self {
            Self::Untracked | Self::Renamed(_) | Self::Outdated => None,
            Self::Numbered(id) => Some(*id),
            Self::Named(named) => Some(named.statement.id),
        }
    }

    /// The name that the server has for the statement, and the client's own name, if they differ.
    fn names(&self) -> Option<(&[u8], &[u8])> {
        match self {
            Self::Renamed(names) => Some((&names.sent, &names.own)),
            Self::Named(named) => Some((named.statement.name(), &named.name)),
            Self::Untracked | Self::Numbered(_) | Self::Outdated => None,
        }
    }
}

impl Expect {
    /// A message of the client. It gets the answer.
    #[inline]
    #[must_use]
    pub fn forward(message: Message, undo: Undo) -> Self {
        Self { message, fate: Fate::Forward, undo }
    }

    /// A message of our own. Nobody gets the answer.
    #[inline]
    #[must_use]
    pub fn discard(message: Message, undo: Undo) -> Self {
        Self { message, fate: Fate::Discard, undo }
    }

    /// A message that the server does not get, because we answer it ourselves.
    #[inline]
    #[must_use]
    pub fn answer_locally(message: Message, undo: Undo) -> Self {
        Self { message, fate: Fate::AnswerLocally, undo }
    }

    /// The name that the server's error message may have for the client's statement, and the client's own name.
    #[must_use]
    pub fn names(&self) -> Option<(&[u8], &[u8])> {
        match (&self.undo, &self.message) {
            (Undo::PreparedAs(statement, name), _) => Some((statement.name(), name)),
            (_, Message::Parse(subject) | Message::Bind(subject) | Message::Describe(subject)) => {
                subject.names()
            }
            _ => None,
        }
    }

    /// Whether ReadyForQuery answers it.
    #[inline]
    #[must_use]
    pub fn ends_turn(&self) -> bool {
        matches!(self.message, Message::Sync | Message::Query | Message::FunctionCall)
    }

    /// Whether the message changes the server's unnamed statement.
    #[inline]
    #[must_use]
    pub fn sets_unnamed(&self) -> bool {
        matches!(self.undo, Undo::ServerUnnamed(_) | Undo::BothUnnamed(..))
    }

    /// Whether the message changes the client's unnamed statement too.
    pub(super) fn keeps_unnamed(&self) -> bool {
        matches!(self.undo, Undo::BothUnnamed(..))
    }

    /// The server's unnamed statement before the message, if the message changes it.
    pub(super) fn unnamed_on_server(&mut self) -> Option<&mut Option<StatementId>> {
        match &mut self.undo {
            Undo::ServerUnnamed(before) | Undo::BothUnnamed(before, _) => Some(before),
            _ => None,
        }
    }

    /// The client's unnamed statement before the message, if the message changes it.
    pub(super) fn unnamed_of_client(&mut self) -> Option<&mut Option<Arc<Statement>>> {
        match &mut self.undo {
            Undo::BothUnnamed(_, before) => Some(before),
            _ => None,
        }
    }

    /// Its client has gone, so the answer will be dropped.
    pub(super) fn disown(&mut self) {
        if self.fate == Fate::Forward {
            self.fate = Fate::Discard;
        }
        if let Undo::BothUnnamed(before, _) = self.undo {
            self.undo = Undo::ServerUnnamed(before);
        }
    }
}
