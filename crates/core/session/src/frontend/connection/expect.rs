//! The answers that we expect from the server.

/// An entry in the queue of expected answers. It has 16 bytes. A batch has one entry for all its items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expect {
    /// ParseComplete.
    Parse,
    /// BindComplete.
    Bind,
    /// ParameterDescription, then RowDescription or NoData.
    DescribeStatement,
    /// RowDescription or NoData.
    DescribePortal,
    /// Rows or copied data, then the end of a command.
    Execute,
    /// CloseComplete.
    Close,
    /// BindComplete and the answer to an Execute, once for each item.
    BindExecute {
        /// The number of items whose answers have not ended yet.
        left: u32,
    },
    /// The end of our copied data, which has no answer. The server's COPY drops Syncs before it.
    CopyEnd,
    /// ReadyForQuery.
    Sync {
        /// The offset at which the turn begins, in bytes since the first byte that we sent on this connection.
        turn_at: u64,
    },
    /// Any number of results, then ReadyForQuery.
    Query {
        /// As in [`Expect::Sync`].
        turn_at: u64,
    },
}

impl Expect {
    /// The offset at which the turn begins that this entry ends; `None` if it does not end a turn.
    pub(super) fn turn_at(self) -> Option<u64> {
        match self {
            Self::Sync { turn_at } | Self::Query { turn_at } => Some(turn_at),
            _ => None,
        }
    }

    /// The same entry with the offset of its turn increased by `bytes`.
    pub(super) fn moved(self, bytes: u64) -> Self {
        match self {
            Self::Sync { turn_at } => Self::Sync { turn_at: turn_at + bytes },
            Self::Query { turn_at } => Self::Query { turn_at: turn_at + bytes },
            other => other,
        }
    }

    /// The same entry for a turn that begins at another offset.
    pub(super) fn begun_at(self, turn_at: u64) -> Self {
        match self {
            Self::Sync { .. } => Self::Sync { turn_at },
            Self::Query { .. } => Self::Query { turn_at },
            other => other,
        }
    }
}
