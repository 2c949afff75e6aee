//! The counters of a pool. One worker writes them, and every thread may read a copy.

/// Defines `Counters` with these fields, and an `add` that adds each of them.
macro_rules! counters {
    ($($(#[$meaning:meta])* $name:ident,)+) => {
        /// What one worker has counted for one pool. The counts only grow.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Counters {
            $($(#[$meaning])* pub $name: u64,)+
        }

        impl Counters {
            /// Adds the counts of another pool or another worker.
            pub fn add(&mut self, other: &Self) {
                $(self.$name += other.$name;)+
            }
        }
    };
}

counters! {
    /// Turns answered.
    turns,
    /// Transactions ended (ReadyForQuery with status idle).
    transactions,
    /// Bytes passed from clients to servers.
    client_bytes,
    /// Bytes passed from servers to clients.
    server_bytes,
    /// Microseconds that clients waited for a server connection.
    wait_us,
    /// Microseconds from the first byte of turns to their ends.
    turn_us,
    /// Named Parse messages that we answered without the server.
    prepare_cache_hit,
    /// Statements that were prepared on a server connection because it did not have them.
    prepare_cache_miss,
    /// Statements closed on a server connection to make room.
    prepared_evicted,
    /// Turns repeated because the result type of a statement had changed, or the server had lost the statement.
    replays,
    /// Errors that servers reported for clients' messages, including those after which we repeated the turn.
    server_errors,
    /// Cancel requests delivered to servers.
    cancels,
    /// Server connections opened.
    opened,
    /// Server logins that failed.
    open_failed,
    /// Server connections lost to a fault.
    lost,
    /// Server connections handed to another worker.
    handed_on,
}
