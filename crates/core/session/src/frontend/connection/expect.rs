//! What a message of ours will be answered with.

/// One entry of the queue of answers. It is 16 bytes, and a batch has one for all its items.
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
        /// Items whose end has not come yet.
        left: u32,
    },
    /// No answer of its own: here our copied data ends. Syncs before it are swallowed by the server's COPY.
    CopyEnd,
    /// ReadyForQuery.
    Sync {
        /// Where the turn begins in the stream of all that we ever send, in bytes.
        turn_at: u64,
    },
    /// Any number of results, then ReadyForQuery.
    Query {
        /// As in [`Expect::Sync`].
        turn_at: u64,
    },
}

impl Expect {
    /// Where the turn begins that this ends; `None` for what ends none.
    pub(super) fn turn_at(self) -> Option<u64> {
        match self {
            Self::Sync { turn_at } | Self::Query { turn_at } => Some(turn_at),
            _ => None,
        }
    }

    /// The same entry with its turn's place moved on by `bytes`.
    pub(super) fn moved(self, bytes: u64) -> Self {
        match self {
            Self::Sync { turn_at } => Self::Sync { turn_at: turn_at + bytes },
            Self::Query { turn_at } => Self::Query { turn_at: turn_at + bytes },
            other => other,
        }
    }

    /// The same entry for a turn that began earlier.
    pub(super) fn begun_at(self, turn_at: u64) -> Self {
        match self {
            Self::Sync { .. } => Self::Sync { turn_at },
            Self::Query { .. } => Self::Query { turn_at },
            other => other,
        }
    }
}
