//! NoData: a server sends it in place of RowDescription for a statement that returns no rows.

crate::write::empty_message!(b'n', "NoData");
