//! COPY FROM STDIN on a server connection, and the Syncs that are sent into it.

/// While a COPY takes data the server ignores Syncs (as CopyGetData in PostgreSQL does). A client may send some all the same,
/// before it knows that the COPY has begun, or that it has failed.
#[derive(Debug, Default)]
pub(crate) struct CopyState {
    /// The client's CopyData is what the server waits for.
    pub(crate) takes_data: bool,
    /// Syncs that the client has sent into its COPY. The server would ignore them unless the COPY fails before it reads
    /// them, which cannot be told apart: they are sent on when it has failed, or not at all.
    pub(crate) held_syncs: usize,
    /// Syncs on their way to a COPY, which ignores them unless it fails before the server reads them.
    pub(crate) ignored_syncs: usize,
    /// A COPY has failed: Syncs that it was sent early and that may be answered yet, before anything else is.
    pub(crate) early_syncs: usize,
}

impl CopyState {
    /// Whether none is under way, and no Sync of one either.
    pub(crate) fn is_over(&self) -> bool {
        !self.takes_data && self.held_syncs + self.ignored_syncs + self.early_syncs == 0
    }

    /// Its end was sent: no more data is taken.
    pub(crate) fn end_sent(&mut self) {
        (self.takes_data, self.held_syncs) = (false, 0);
    }

    /// It has ended well.
    pub(crate) fn ended(&mut self) {
        self.end_sent();
        self.ignored_syncs = 0;
    }

    /// It has failed: the Syncs on their way to it may be answered.
    pub(crate) fn expect_early_syncs(&mut self) {
        self.early_syncs = std::mem::take(&mut self.ignored_syncs);
    }
}
