//! A look-up that a client waits for.

use std::sync::Arc;

use super::gate::Pass;
use super::secrets::Asked;
use crate::directory::AuthQuery;

/// What a client waits for that is being looked up.
#[derive(Debug)]
pub(crate) struct LookUp {
    pub(in crate::board) query: Arc<AuthQuery>,
    /// In which database.
    pub(in crate::board) there: String,
    /// Its answer is remembered as the answer to this.
    pub(in crate::board) asked: Asked,
    /// The client has chosen that database: by a name that only the fallback entry serves.
    pub(in crate::board) chosen: bool,
    /// Leave to ask in a database that is not known to exist.
    pub(in crate::board) pass: Option<Pass>,
}
