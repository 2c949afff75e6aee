//! Sync: the end of a pipeline's piece: answer, end the implicit transaction, say ReadyForQuery.

crate::write::empty_message!(b'S', "Sync");
