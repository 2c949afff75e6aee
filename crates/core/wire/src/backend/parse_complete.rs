//! ParseComplete: the statement is prepared.

crate::write::empty_message!(b'1', "ParseComplete");
