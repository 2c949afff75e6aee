//! What a server says unasked.

use trunkline_wire::SqlState;
use trunkline_wire::backend::{NoticeResponse, NotificationResponse};

/// A warning or notice of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// `WARNING`, `NOTICE`, `DEBUG`, `INFO` or `LOG`.
    pub severity: String,
    /// Its SQLSTATE.
    pub code: Option<SqlState>,
    /// What it says.
    pub message: String,
}

/// A NOTIFY of a channel that is listened to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// The server process that notified.
    pub process_id: i32,
    /// The channel.
    pub channel: String,
    /// What was said; often empty.
    pub payload: String,
}

impl Notice {
    #[doc(hidden)]
    #[must_use]
    pub fn of(message: &NoticeResponse<'_>) -> Self {
        Self {
            severity: text(message.severity().unwrap_or_default()),
            code: message.code(),
            message: text(message.message()),
        }
    }
}

impl Notification {
    #[doc(hidden)]
    #[must_use]
    pub fn of(message: &NotificationResponse<'_>) -> Self {
        Self {
            process_id: message.process_id,
            channel: text(message.channel),
            payload: text(message.payload),
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
