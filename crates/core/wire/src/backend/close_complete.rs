//! CloseComplete: the statement or portal is gone, if it was ever there.

crate::write::empty_message!(b'3', "CloseComplete");
