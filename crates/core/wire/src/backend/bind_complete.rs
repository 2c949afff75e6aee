//! BindComplete: the parameters are bound and the portal exists.

crate::write::empty_message!(b'2', "BindComplete");
