//! COPY FROM STDIN on a server connection, and the Syncs that a client sends during it.

/// While a COPY reads its data, the server ignores Syncs (CopyGetData in PostgreSQL). A client may still send some,
/// because it does not know yet that the COPY has begun or has failed.
#[derive(Debug, Default)]
pub(crate) struct CopyState {
    /// Whether the server waits for the client's CopyData.
    pub(crate) takes_data: bool,
    /// Syncs that the client has sent during the COPY and that we keep back. Whether the server would answer them
    /// depends on when the COPY fails, and we could not see which ones it has answered. So we send them only after the
    /// COPY has failed.
    pub(crate) held_syncs: usize,
    /// Syncs that we sent before we knew of the COPY. The server ignores them, unless the COPY fails before the server
    /// reads them.
    pub(crate) ignored_syncs: usize,
    /// After a COPY has failed: Syncs that we sent during it. The server may still answer them, before all other messages.
    pub(crate) early_syncs: usize,
}

impl CopyState {
    /// Whether no COPY is under way, and no Sync that was sent during one.
    pub(crate) fn is_over(&self) -> bool {
        !self.takes_data && self.held_syncs + self.ignored_syncs + self.early_syncs == 0
    }

    /// CopyDone or CopyFail was sent.
    pub(crate) fn end_sent(&mut self) {
        (self.takes_data, self.held_syncs) = (false, 0);
    }

    /// The COPY has succeeded.
    pub(crate) fn ended(&mut self) {
        self.end_sent();
        self.ignored_syncs = 0;
    }

    /// The COPY has failed, so the server may answer the Syncs that were sent before we knew of it.
    pub(crate) fn expect_early_syncs(&mut self) {
        self.early_syncs = std::mem::take(&mut self.ignored_syncs);
    }
}
