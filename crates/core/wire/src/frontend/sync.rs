//! Sync: asks the server to end the implicit transaction and to send all answers, with ReadyForQuery as the last one.

crate::write::empty_message!(b'S', "Sync");
