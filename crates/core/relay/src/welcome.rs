//! What a server says of itself.

use std::sync::Arc;

use crate::carried::parameters::Profile;

/// What a server says of itself after login.
#[derive(Debug)]
pub(crate) struct Welcome {
    /// All that the server reports, in its order.
    pub(crate) parameters: Vec<(String, String)>,
    /// Those that follow clients, as `connect_query` has left them.
    pub(crate) base: Arc<Profile>,
    /// The same as the server has them by itself: what it goes back to by RESET.
    pub(crate) defaults: Arc<Profile>,
}

impl Welcome {
    /// Whether the server tells us when this parameter changes.
    pub(crate) fn reports(&self, name: &str) -> bool {
        self.parameters.iter().any(|(reported, _)| reported == name)
    }
}
