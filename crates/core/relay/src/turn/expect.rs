//! What a server connection will answer, and what has to be undone when it does not.

use std::sync::Arc;

use crate::prepared::{Named, Statement, StatementId};

/// One answer that is expected, with what has to be undone when it does not come.
#[derive(Debug)]
pub enum Expect {
    /// ParseComplete, passed on. The statement went to the server under its global name.
    Parse {
        /// The statement.
        statement: Arc<Statement>,
        /// The client's own name for it.
        name: Box<[u8]>,
    },
    /// ParseComplete, passed on, of the client's unnamed statement.
    ParseUnnamed {
        /// What the client's unnamed statement was before.
        previous: Option<Arc<Statement>>,
        /// What the server's unnamed statement was before.
        on_server: StatementId,
    },
    /// ParseComplete, passed on, of a statement that nobody tracks.
    ParseUntracked,
    /// A name that is taken: the server will refuse it, and the client must read its own name.
    ParseDuplicate {
        /// The statement that the server has already.
        statement: Arc<Statement>,
        /// The client's own name for it.
        name: Box<[u8]>,
    },
    /// ParseComplete that we give ourselves once all before it is answered.
    ParseLocal(Box<[u8]>),
    /// ParseComplete that nobody gets: the server lacked a statement that the client has.
    ParseInjected(Arc<Statement>),
    /// The same for the client's unnamed statement, with what the server had before.
    UnnamedInjected(StatementId),
    /// CloseComplete that nobody gets: an evicted statement; absent when it turned out that the server has none.
    CloseInjected(Option<Arc<Statement>>),
    /// CloseComplete that nobody gets: the unnamed statement of another client.
    UnnamedCloseInjected(StatementId),
    /// CloseComplete that we give ourselves once all before it is answered.
    CloseLocal(Box<[u8]>, Option<Arc<Statement>>),
    /// CloseComplete, passed on, of the unnamed statement.
    CloseUnnamed(Option<Arc<Statement>>, StatementId),
    /// CloseComplete, passed on, of a portal or an untracked statement.
    Close,
    /// BindComplete.
    Bind(Subject),
    /// ParameterDescription, RowDescription or NoData. From that of a named statement, or of a portal bound from one, the
    /// client learns its result.
    Describe(Subject),
    /// RowDescription or NoData that nobody gets: whether the server's result is what the client knows.
    DescribeInjected(StatementId),
    /// An error: the statement's result is no longer what the client knows.
    BindOutdated,
    /// A message of this type that nobody gets, and rows before it: the server reads what follows by other settings.
    Skipped(u8),
    /// One row, then CommandComplete, which nobody gets: the settings under which the statement was parsed.
    Reading(Arc<Statement>),
    /// CommandComplete, EmptyQueryResponse or PortalSuspended after rows or a COPY.
    Execute,
    /// Not an answer: the place of a CopyDone or CopyFail, up to which Syncs are ignored in COPY.
    CopyEnd,
    /// ReadyForQuery.
    Sync,
    /// Anything, then ReadyForQuery; with the client's unnamed statement, which a Query drops.
    Query(Option<Arc<Statement>>, StatementId),
    /// FunctionCallResponse or an error, then ReadyForQuery.
    FunctionCall,
}

/// Which statement a Bind or Describe is of.
#[derive(Debug)]
pub enum Subject {
    /// One that nobody tracks, or a portal of no named one.
    Untracked,
    /// The same, under another name than the client's own.
    Foreign {
        /// The client's name.
        own: Box<[u8]>,
        /// What the server was sent.
        sent: Box<[u8]>,
    },
    /// The client's unnamed one; 0 when it has none.
    Unnamed(StatementId),
    /// One of the client's.
    Named(Arc<Named>),
}

impl Subject {
    /// The statement's number; 0 when it is not tracked.
    #[must_use]
    pub fn id(&self) -> StatementId {
        match self {
            Self::Untracked | Self::Foreign { .. } => 0,
            Self::Unnamed(id) => *id,
            Self::Named(named) => named.statement.id,
        }
    }

    /// The name that the server has for the statement, and the client's own, where they differ.
    #[must_use]
    fn names(&self) -> Option<(&[u8], &[u8])> {
        match self {
            Self::Foreign { own, sent } => Some((sent, own)),
            Self::Named(named) => Some((named.statement.name(), &named.name)),
            Self::Untracked | Self::Unnamed(_) => None,
        }
    }
}

impl Expect {
    /// The name that the server's error may have for the client's statement, and the client's own.
    #[must_use]
    pub fn names(&self) -> Option<(&[u8], &[u8])> {
        match self {
            Self::Parse { statement, name } | Self::ParseDuplicate { statement, name } => {
                Some((statement.name(), name))
            }
            Self::Bind(subject) | Self::Describe(subject) => subject.names(),
            _ => None,
        }
    }

    /// Whether it answers a message of ours: what the server says beside it is nobody's.
    #[must_use]
    pub fn is_injected(&self) -> bool {
        matches!(
            self,
            Self::ParseInjected(_)
                | Self::UnnamedInjected(_)
                | Self::CloseInjected(_)
                | Self::UnnamedCloseInjected(_)
                | Self::DescribeInjected(_)
                | Self::Skipped(_)
                | Self::Reading(_)
        )
    }

    /// Whether ReadyForQuery answers it.
    #[inline]
    #[must_use]
    pub fn ends_turn(&self) -> bool {
        matches!(self, Self::Sync | Self::Query(..) | Self::FunctionCall)
    }

    /// Whether it is answered by us, or by nothing, once all before it is answered.
    #[inline]
    #[must_use]
    pub fn is_ours_to_give(&self) -> bool {
        matches!(self, Self::ParseLocal(_) | Self::CloseLocal(..) | Self::CopyEnd)
    }

    /// Whether it changes what the unnamed statement is.
    #[inline]
    #[must_use]
    pub fn sets_unnamed(&self) -> bool {
        matches!(
            self,
            Self::ParseUnnamed { .. }
                | Self::CloseUnnamed(..)
                | Self::Query(..)
                | Self::UnnamedInjected(_)
                | Self::UnnamedCloseInjected(_)
        )
    }

    /// What the server's unnamed statement was before, where it changes that.
    pub(super) fn unnamed_on_server(&mut self) -> Option<&mut StatementId> {
        match self {
            Self::ParseUnnamed { on_server, .. }
            | Self::CloseUnnamed(_, on_server)
            | Self::Query(_, on_server)
            | Self::UnnamedInjected(on_server)
            | Self::UnnamedCloseInjected(on_server) => Some(on_server),
            _ => None,
        }
    }

    /// What the client's unnamed statement was before, where it changes that.
    pub(super) fn unnamed_of_client(&mut self) -> Option<&mut Option<Arc<Statement>>> {
        match self {
            Self::ParseUnnamed { previous, .. }
            | Self::CloseUnnamed(previous, _)
            | Self::Query(previous, _) => Some(previous),
            _ => None,
        }
    }
}
