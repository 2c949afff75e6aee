//! PortalSuspended: Execute's limit of rows was reached, and the portal may have more.

crate::write::empty_message!(b's', "PortalSuspended");
