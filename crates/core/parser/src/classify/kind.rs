//! The enums in a class.

/// The kind of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// No statement: white space, comments, semicolons.
    Empty,
    /// Several statements of different kinds.
    Mixed,
    /// SELECT, VALUES, TABLE; SELECT INTO too.
    Select,
    /// INSERT.
    Insert,
    /// UPDATE.
    Update,
    /// DELETE.
    Delete,
    /// MERGE.
    Merge,
    /// COPY.
    Copy,
    /// BEGIN, COMMIT and all others of [`TransactionControl`].
    Transaction,
    /// EXPLAIN, with or without ANALYZE.
    Explain,
    /// PREPARE of a statement.
    Prepare,
    /// EXECUTE.
    Execute,
    /// DEALLOCATE.
    Deallocate,
    /// DECLARE of a cursor.
    Declare,
    /// FETCH, MOVE.
    Fetch,
    /// CLOSE.
    Close,
    /// LISTEN.
    Listen,
    /// UNLISTEN.
    Unlisten,
    /// NOTIFY.
    Notify,
    /// SET and RESET of anything.
    Set,
    /// SET CONSTRAINTS.
    SetConstraints,
    /// SHOW.
    Show,
    /// DISCARD.
    Discard,
    /// LOCK TABLE.
    Lock,
    /// DO.
    Do,
    /// CALL.
    Call,
    /// LOAD.
    Load,
    /// CHECKPOINT.
    Checkpoint,
    /// VACUUM, ANALYZE, CLUSTER, REINDEX.
    Maintenance,
    /// TRUNCATE.
    Truncate,
    /// CREATE, ALTER, DROP, GRANT, COMMENT and all others that change definitions; CREATE TABLE AS and REFRESH too.
    Definition,
    /// None of these: the statement is not understood, or there is no parse tree.
    Unknown,
}

impl Kind {
    /// Whether the statement is planned: SELECT, INSERT, UPDATE, DELETE, MERGE.
    #[must_use]
    pub const fn is_query(self) -> bool {
        matches!(self, Self::Select) || self.is_data_modifying()
    }

    /// Whether the statement is INSERT, UPDATE, DELETE or MERGE.
    #[must_use]
    pub const fn is_data_modifying(self) -> bool {
        matches!(self, Self::Insert | Self::Update | Self::Delete | Self::Merge)
    }

    /// Whether it is one statement of any other kind.
    #[must_use]
    pub const fn is_utility(self) -> bool {
        !self.is_query() && !matches!(self, Self::Empty | Self::Mixed | Self::Unknown)
    }
}

/// How much a statement may change. These are PostgreSQL's own classes (its `ClassifyUtilityCommandAsReadOnly` and
/// `CommandIsReadOnly`), as far as a text shows them. They are ordered: each one allows more than the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Access {
    /// Changes nothing: SELECT, SHOW, COPY TO, transaction control.
    Read,
    /// Changes only the state of the session: SET, PREPARE, DECLARE. Runs on a standby.
    Session,
    /// PostgreSQL runs it in a READ ONLY transaction, but not on a standby: VACUUM, NOTIFY, strong LOCKs.
    Maintain,
    /// Writes, or may write: the text does not show what EXECUTE, CALL and DO run.
    Write,
}

/// How many statements a text has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Count {
    /// None: the server answers EmptyQueryResponse.
    None,
    /// One.
    One,
    /// More than one. Outside a transaction block, a simple query runs all of them in one transaction.
    Several,
}

/// A statement of transaction control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TransactionControl {
    /// BEGIN or START TRANSACTION: [`Class::modes`](super::Class::modes).
    Begin,
    /// COMMIT or END.
    Commit,
    /// COMMIT AND CHAIN: the next transaction begins at once.
    CommitAndChain,
    /// ROLLBACK or ABORT.
    Rollback,
    /// ROLLBACK AND CHAIN.
    RollbackAndChain,
    /// SAVEPOINT.
    Savepoint,
    /// RELEASE SAVEPOINT.
    Release,
    /// ROLLBACK TO SAVEPOINT.
    RollbackTo,
    /// PREPARE TRANSACTION: the transaction no longer belongs to the connection.
    Prepare,
    /// COMMIT PREPARED.
    CommitPrepared,
    /// ROLLBACK PREPARED.
    RollbackPrepared,
}

impl TransactionControl {
    /// Whether the statement ends the transaction block if it succeeds.
    #[must_use]
    pub const fn ends_block(self) -> bool {
        matches!(self, Self::Commit | Self::Rollback | Self::Prepare)
    }
}

/// The isolation level of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Isolation {
    /// READ UNCOMMITTED, which PostgreSQL treats as READ COMMITTED.
    ReadUncommitted,
    /// READ COMMITTED.
    ReadCommitted,
    /// REPEATABLE READ.
    RepeatableRead,
    /// SERIALIZABLE.
    Serializable,
}

/// The modes that BEGIN, SET TRANSACTION or SET SESSION CHARACTERISTICS names. A mode that is not named is `None`. If
/// one is named twice, the last counts, as in PostgreSQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct TransactionModes {
    /// ISOLATION LEVEL.
    pub isolation: Option<Isolation>,
    /// True for READ ONLY, false for READ WRITE.
    pub read_only: Option<bool>,
    /// True for DEFERRABLE, false for NOT DEFERRABLE.
    pub deferrable: Option<bool>,
}

/// The source or destination of COPY.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CopyDirection {
    /// FROM STDIN: the client sends CopyData.
    FromClient,
    /// FROM a file of the server's.
    FromFile,
    /// FROM PROGRAM, on the server.
    FromProgram,
    /// TO STDOUT: the server sends CopyData.
    ToClient,
    /// TO a file of the server's.
    ToFile,
    /// TO PROGRAM, on the server.
    ToProgram,
}
