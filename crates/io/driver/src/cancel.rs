//! Asking a server to cancel what a connection runs.

use trunkline_driver_blocking::Error;

use crate::connect::apart;

/// Cancels what a connection runs, from any task.
#[derive(Debug, Clone)]
pub struct CancelToken(trunkline_driver_blocking::CancelToken);

impl CancelToken {
    pub(crate) fn new(token: trunkline_driver_blocking::CancelToken) -> Self {
        Self(token)
    }

    /// Asks, and waits until the server has heard it. Whether something was cancelled shows in what ran: SQLSTATE 57014.
    ///
    /// # Errors
    /// When the server cannot be reached, or gave no key at login.
    pub async fn cancel(&self) -> Result<(), Error> {
        let token = self.0.clone();
        apart(move || token.cancel()).await
    }
}
