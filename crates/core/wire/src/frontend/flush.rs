//! Flush: asks the server to send the answers that it has, without waiting for a Sync.

crate::write::empty_message!(b'H', "Flush");
