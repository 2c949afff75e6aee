//! The small enums of a class.

/// What a statement is.
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
    /// CREATE, ALTER, DROP, GRANT, COMMENT and whatever else changes definitions; CREATE TABLE AS and REFRESH too.
    Definition,
    /// None of these: not understood, or no parse tree.
    Unknown,
}

impl Kind {
    /// SELECT, INSERT, UPDATE, DELETE, MERGE: what is planned.
    #[must_use]
    pub const fn is_query(self) -> bool {
        matches!(self, Self::Select) || self.is_data_modifying()
    }

    /// INSERT, UPDATE, DELETE, MERGE.
    #[must_use]
    pub const fn is_data_modifying(self) -> bool {
        matches!(self, Self::Insert | Self::Update | Self::Delete | Self::Merge)
    }

    /// All the others that are one statement.
    #[must_use]
    pub const fn is_utility(self) -> bool {
        !self.is_query() && !matches!(self, Self::Empty | Self::Mixed | Self::Unknown)
    }
}

/// How far a statement may go in changing what is stored: PostgreSQL's own classes (its
/// `ClassifyUtilityCommandAsReadOnly` and `CommandIsReadOnly`) as far as a text tells. Ordered: each allows more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Access {
    /// Changes nothing: SELECT, SHOW, COPY TO, transaction control.
    Read,
    /// Changes the state of the session only: SET, PREPARE, DECLARE. Runs on a standby.
    Session,
    /// PostgreSQL runs it in a READ ONLY transaction, though not on a standby: VACUUM, NOTIFY, strong LOCKs.
    Maintain,
    /// Writes, or may: what EXECUTE, CALL and DO run is not in the text.
    Write,
}

/// How many statements a text has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Count {
    /// None: the server answers EmptyQueryResponse.
    None,
    /// One.
    One,
    /// More than one. Outside a transaction block, a simple query runs them all in one transaction.
    Several,
}

/// Which statement of transaction control.
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
    /// Whether the transaction block ends with it, if all goes well.
    #[must_use]
    pub const fn ends_block(self) -> bool {
        matches!(self, Self::Commit | Self::Rollback | Self::Prepare)
    }
}

/// How much a transaction sees of others.
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

/// The modes that BEGIN, SET TRANSACTION or SET SESSION CHARACTERISTICS names; None for those it does not. Where one is
/// named twice the last counts, as in PostgreSQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct TransactionModes {
    /// ISOLATION LEVEL.
    pub isolation: Option<Isolation>,
    /// READ ONLY is true, READ WRITE false.
    pub read_only: Option<bool>,
    /// DEFERRABLE is true, NOT DEFERRABLE false.
    pub deferrable: Option<bool>,
}

/// From where to where COPY copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CopyWay {
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
