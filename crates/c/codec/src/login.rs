//! A login under way.

use trunkline_session::frontend::{Login, LoginError, ServerReady};

/// See the module.
pub(crate) struct LoginObject {
    pub(crate) login: Login,
    pub(crate) out: Vec<u8>,
    /// Bytes of `out` that were sent.
    pub(crate) sent: usize,
    /// Received, and not consumed.
    pub(crate) input: Vec<u8>,
    pub(crate) ready: Option<Box<ServerReady>>,
    pub(crate) failure: Option<LoginError>,
    pub(crate) message: String,
}

impl LoginObject {
    pub(crate) fn new(login: Login) -> Self {
        Self {
            login,
            out: Vec::new(),
            sent: 0,
            input: Vec::new(),
            ready: None,
            failure: None,
            message: String::new(),
        }
    }

    /// Keeps why it failed.
    pub(crate) fn fail(&mut self, error: LoginError) {
        self.message = error.to_string();
        self.failure = Some(error);
    }
}
