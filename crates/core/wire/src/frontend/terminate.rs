//! Terminate: the client ends the session.

crate::write::empty_message!(b'X', "Terminate");
