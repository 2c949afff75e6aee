//! What a server connection will answer, and what has to be put back when it does not.

use std::sync::Arc;

use crate::carried::prepared::{Named, Statement, StatementId};

/// One answer that is expected: to which message, what becomes of it, and what is put back when it does not come.
#[derive(Debug)]
pub struct Expect {
    /// The message that the server was sent.
    pub message: Message,
    /// Who gets the answer.
    pub fate: Fate,
    /// What was changed when the message was sent.
    pub undo: Undo,
}

/// A message that was sent; it says how the server answers.
#[derive(Debug)]
pub enum Message {
    /// ParseComplete.
    Parse(Subject),
    /// BindComplete.
    Bind(Subject),
    /// ParameterDescription (of a statement), then RowDescription or NoData. From the answer for a named statement, or for a
    /// portal bound from one, the client learns its result.
    Describe(Subject),
    /// CommandComplete, EmptyQueryResponse or PortalSuspended after rows or a COPY.
    Execute,
    /// An Execute of a SELECT of ours: one row, then CommandComplete. With the statement of which it asks under which settings
    /// the server has read it, if it does.
    Select(Option<Arc<Statement>>),
    /// CloseComplete.
    Close,
    /// CopyDone or CopyFail: no answer of their own. Up to here the server ignores Syncs in a COPY.
    CopyEnd,
    /// ReadyForQuery.
    Sync,
    /// Anything, then ReadyForQuery.
    Query,
    /// FunctionCallResponse or an error, then ReadyForQuery.
    FunctionCall,
}

/// What becomes of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The client gets it.
    Forward,
    /// Nobody gets it: the message was ours. What the server says beside it reaches nobody either.
    Skip,
    /// The server was sent nothing: we answer ourselves when all answers before it are out (to CopyEnd there is none).
    Give,
}

/// What is put back when the server fails or skips a message, or is lost before it answers.
#[derive(Debug)]
pub enum Undo {
    /// The message changed nothing.
    Nothing,
    /// The message gave the server the statement, and the client this name for it.
    Named(Arc<Statement>, Box<[u8]>),
    /// The message gave the server the statement, which the client had before.
    Prepared(Arc<Statement>),
    /// The message gave the client the name.
    Claimed(Box<[u8]>),
    /// The message took this statement from the server.
    Closed(Arc<Statement>),
    /// The message took this name from the client.
    Released(Box<[u8]>, Arc<Statement>),
    /// The server's unnamed statement was this one, or it had none.
    Unnamed(Option<StatementId>),
    /// The same; the second is the client's unnamed statement before.
    BothUnnamed(Option<StatementId>, Option<Arc<Statement>>),
}

/// Which statement a message is of.
#[derive(Debug)]
pub enum Subject {
    /// A statement that we do not track, or a portal that is not of a named one.
    Untracked,
    /// One whose name on the server is not the client's own.
    Foreign(Box<Foreign>),
    /// One that is known by its number only: the client's unnamed one.
    Numbered(StatementId),
    /// One of the client's.
    Named(Arc<Named>),
    /// One whose result is no longer what the client was told. The server was sent a name that it does not know.
    Outdated,
}

/// Two names of one statement.
#[derive(Debug)]
pub struct Foreign {
    /// The client's name.
    pub own: Box<[u8]>,
    /// What the server was sent.
    pub sent: Box<[u8]>,
}

impl Subject {
    /// A statement known by its number, if there is one.
    pub(super) fn numbered(id: Option<StatementId>) -> Self {
        id.map_or(Self::Untracked, Self::Numbered)
    }

    /// A statement of which the server was sent another name than the client's own.
    #[must_use]
    pub fn foreign(own: &[u8], sent: &[u8]) -> Self {
        Self::Foreign(Box::new(Foreign { own: own.into(), sent: sent.into() }))
    }

    /// The statement's number, when it is tracked.
    #[must_use]
    pub fn id(&self) -> Option<StatementId> {
        match self {
            Self::Untracked | Self::Foreign(_) | Self::Outdated => None,
            Self::Numbered(id) => Some(*id),
            Self::Named(named) => Some(named.statement.id),
        }
    }

    /// The name that the server has for the statement, and the client's own, where they differ.
    fn names(&self) -> Option<(&[u8], &[u8])> {
        match self {
            Self::Foreign(foreign) => Some((&foreign.sent, &foreign.own)),
            Self::Named(named) => Some((named.statement.name(), &named.name)),
            Self::Untracked | Self::Numbered(_) | Self::Outdated => None,
        }
    }
}

impl Expect {
    /// A message of the client's, whose answer it gets.
    #[inline]
    #[must_use]
    pub fn forward(message: Message, undo: Undo) -> Self {
        Self { message, fate: Fate::Forward, undo }
    }

    /// A message of ours, whose answer nobody gets.
    #[inline]
    #[must_use]
    pub fn skip(message: Message, undo: Undo) -> Self {
        Self { message, fate: Fate::Skip, undo }
    }

    /// A message that the server does not get.
    #[inline]
    #[must_use]
    pub fn give(message: Message, undo: Undo) -> Self {
        Self { message, fate: Fate::Give, undo }
    }

    /// The name that the server's error may have for the client's statement, and the client's own.
    #[must_use]
    pub fn names(&self) -> Option<(&[u8], &[u8])> {
        match (&self.undo, &self.message) {
            (Undo::Named(statement, name), _) => Some((statement.name(), name)),
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

    /// Whether it changes what the unnamed statement is.
    #[inline]
    #[must_use]
    pub fn sets_unnamed(&self) -> bool {
        matches!(self.undo, Undo::Unnamed(_) | Undo::BothUnnamed(..))
    }

    /// Whether it keeps the unnamed statement that a client had before.
    pub(super) fn keeps_unnamed(&self) -> bool {
        matches!(self.undo, Undo::BothUnnamed(..))
    }

    /// What the server's unnamed statement was before, where it changes that.
    pub(super) fn unnamed_on_server(&mut self) -> Option<&mut Option<StatementId>> {
        match &mut self.undo {
            Undo::Unnamed(before) | Undo::BothUnnamed(before, _) => Some(before),
            _ => None,
        }
    }

    /// What the client's unnamed statement was before, where it changes that.
    pub(super) fn unnamed_of_client(&mut self) -> Option<&mut Option<Arc<Statement>>> {
        match &mut self.undo {
            Undo::BothUnnamed(_, before) => Some(before),
            _ => None,
        }
    }

    /// Its client has gone: the answer is dropped when it comes.
    pub(super) fn disown(&mut self) {
        if self.fate == Fate::Forward {
            self.fate = Fate::Skip;
        }
        if let Undo::BothUnnamed(before, _) = self.undo {
            self.undo = Undo::Unnamed(before);
        }
    }
}
