//! Terminate: good-bye.

crate::write::empty_message!(b'X', "Terminate");
