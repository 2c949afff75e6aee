//! CopyDone: the end of copied data, from either side.

crate::write::empty_message!(b'c', "CopyDone");
