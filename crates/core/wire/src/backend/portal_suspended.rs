//! PortalSuspended: the server has sent as many rows as Execute asked for, and the portal may have more.

crate::write::empty_message!(b's', "PortalSuspended");
