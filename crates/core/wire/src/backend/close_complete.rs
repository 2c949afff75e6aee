//! CloseComplete: the statement or portal no longer exists. Perhaps it never did.

crate::write::empty_message!(b'3', "CloseComplete");
