//! Flush: send what you have, without waiting for a Sync.

crate::write::empty_message!(b'H', "Flush");
