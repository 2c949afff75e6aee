//! EmptyQueryResponse: what stands in for CommandComplete when there was no command.

crate::write::empty_message!(b'I', "EmptyQueryResponse");
