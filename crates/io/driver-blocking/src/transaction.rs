//! Transactions and savepoints.

use std::fmt::Write as _;
use std::ops::{Deref, DerefMut};

use trunkline_wire::backend::TransactionStatus;

use crate::client::Client;
use crate::error::Error;

/// How far concurrent transactions are kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IsolationLevel {
    /// As PostgreSQL treats it: read committed.
    ReadUncommitted,
    /// Each statement sees what was committed before it.
    ReadCommitted,
    /// All statements see what was committed before the first.
    RepeatableRead,
    /// As if one ran after the other.
    Serializable,
}

/// How a transaction begins; what is not set is as the session has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Begin {
    /// The isolation level.
    pub isolation: Option<IsolationLevel>,
    /// Whether it must not write.
    pub read_only: Option<bool>,
    /// Whether a serializable, read-only one waits for a snapshot that cannot fail.
    pub deferrable: Option<bool>,
}

impl Begin {
    /// The command that begins it.
    #[doc(hidden)]
    #[must_use]
    pub fn sql(&self) -> String {
        let mut modes = Vec::new();
        modes.extend(self.isolation.map(|level| match level {
            IsolationLevel::ReadUncommitted => "isolation level read uncommitted",
            IsolationLevel::ReadCommitted => "isolation level read committed",
            IsolationLevel::RepeatableRead => "isolation level repeatable read",
            IsolationLevel::Serializable => "isolation level serializable",
        }));
        modes.extend(self.read_only.map(|only| if only { "read only" } else { "read write" }));
        modes.extend(self.deferrable.map(|yes| if yes { "deferrable" } else { "not deferrable" }));
        let mut sql = "begin".to_owned();
        if !modes.is_empty() {
            let _ = write!(sql, " {}", modes.join(", "));
        }
        sql
    }
}

/// An open transaction, or a savepoint in one. It is a [`Client`] for what is run in it; dropped without
/// [`commit`](Self::commit) it is rolled back.
#[derive(Debug)]
pub struct Transaction<'c> {
    client: &'c mut Client,
    /// 0 is the transaction, what is above are savepoints in it.
    depth: u32,
    over: bool,
}

impl<'c> Transaction<'c> {
    pub(crate) fn begin(client: &'c mut Client, begin: &Begin) -> Result<Self, Error> {
        let depth = client.depth;
        // A caller that has begun one by SQL gets a savepoint too.
        let nested = depth > 0 || client.transaction_status() != TransactionStatus::Idle;
        let depth = if nested { depth.max(1) } else { 0 };
        client.batch_execute(&if nested { format!("savepoint tl_{depth}") } else { begin.sql() })?;
        client.depth = depth + 1;
        Ok(Self { client, depth, over: false })
    }

    /// Makes what was done in it last.
    ///
    /// # Errors
    /// The server's error: it is rolled back then. A transaction that has failed before is rolled back, which is an error too.
    pub fn commit(mut self) -> Result<(), Error> {
        self.over = true;
        let depth = self.depth;
        self.client.depth = depth;
        if depth > 0 {
            return self.client.batch_execute(&format!("release savepoint tl_{depth}"));
        }
        let failed = self.client.transaction_status() == TransactionStatus::Failed;
        self.client.batch_execute("commit")?;
        if failed {
            let message = "the transaction was rolled back, because a command in it had failed";
            return Err(Error::new(crate::error::Kind::Usage(message)));
        }
        Ok(())
    }

    /// Undoes what was done in it.
    ///
    /// # Errors
    /// When the connection ends.
    pub fn rollback(mut self) -> Result<(), Error> {
        self.undo()
    }

    fn undo(&mut self) -> Result<(), Error> {
        self.over = true;
        self.client.depth = self.depth;
        let depth = self.depth;
        self.client.batch_execute(&match depth {
            0 => "rollback".to_owned(),
            _ => format!("rollback to savepoint tl_{depth}; release savepoint tl_{depth}"),
        })
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if !self.over && !self.client.is_closed() {
            // A connection that fails here is closed, which rolls back as well.
            let _ = self.undo();
        }
    }
}

impl Deref for Transaction<'_> {
    type Target = Client;

    fn deref(&self) -> &Client {
        self.client
    }
}

impl DerefMut for Transaction<'_> {
    fn deref_mut(&mut self) -> &mut Client {
        self.client
    }
}
