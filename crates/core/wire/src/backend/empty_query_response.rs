//! EmptyQueryResponse: a server sends it in place of CommandComplete when the text had no command.

crate::write::empty_message!(b'I', "EmptyQueryResponse");
