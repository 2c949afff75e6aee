//! NoData: what stands in for RowDescription when there will be no rows.

crate::write::empty_message!(b'n', "NoData");
