//! What a connection may hold.

/// Bounds of one connection. A request beyond them waits, without being sent, until there is room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Turns that are asked and not answered to their end. Default: 65,536.
    pub turns_max: usize,
    /// Bytes of requests that wait to be sent; one request may be larger. Default: 16 MiB.
    pub unsent_bytes_max: usize,
    /// Bytes that a row stream or a COPY holds for its reader before the connection stops reading; one message may be larger.
    /// Default: 1 MiB.
    pub stream_bytes_max: usize,
    /// Notifications, and notices, that wait for each listener; the oldest are dropped beyond. Default: 1,024.
    pub unasked_max: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { turns_max: 65_536, unsent_bytes_max: 16 << 20, stream_bytes_max: 1 << 20, unasked_max: 1_024 }
    }
}
