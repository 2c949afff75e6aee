//! The parameters that a server reports after login.

use std::sync::Arc;

use crate::carried::parameters::Profile;

/// The parameters that a server reports after login.
#[derive(Debug)]
pub(crate) struct Welcome {
    /// All reported parameters, in the server's order.
    pub(crate) parameters: Vec<(String, String)>,
    /// Those of them that follow clients, with the values that they have after `connect_query`.
    pub(crate) base: Arc<Profile>,
    /// The same parameters with the server's own values, which RESET brings back.
    pub(crate) defaults: Arc<Profile>,
}

impl Welcome {
    /// Whether the server reports this parameter, and so tells us when it changes.
    pub(crate) fn reports(&self, name: &str) -> bool {
        self.parameters.iter().any(|(reported, _)| reported == name)
    }
}
