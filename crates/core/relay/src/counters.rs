//! What a pool counts. One worker writes, anybody may read a copy.

/// Makes the type of these counts, each of which is added where the type is.
macro_rules! counters {
    ($($(#[$meaning:meta])* $name:ident,)+) => {
        /// Monotonic counts of one pool in one worker.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Counters {
            $($(#[$meaning])* pub $name: u64,)+
        }

        impl Counters {
            /// Adds what another pool, or another worker, has counted.
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
    /// Parse messages answered without the server.
    prepare_cache_hit,
    /// Those for which a statement was prepared.
    prepare_cache_miss,
    /// Statements closed on a server connection to make room.
    prepared_evicted,
    /// Turns played again after their statement's result type changed or it was lost.
    replays,
    /// Errors that servers reported for what clients sent, healed ones too.
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
