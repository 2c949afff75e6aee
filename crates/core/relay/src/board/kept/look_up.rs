//! The look-up of a client's stored password.

use std::sync::Arc;

use super::gate::Permit;
use super::secrets::AnswerKey;
use crate::directory::AuthQuery;

/// A look-up that a client waits for.
#[derive(Debug)]
pub(crate) struct LookUp {
    pub(in crate::board) query: Arc<AuthQuery>,
    /// The name of the database in which the query runs.
    pub(in crate::board) database: String,
    /// The key under which the answer is kept.
    pub(in crate::board) key: AnswerKey,
    /// Whether the client has chosen that database, by a name that only the fallback entry serves.
    pub(in crate::board) client_chose_database: bool,
    /// The permit to ask in a database that is not known to exist.
    pub(in crate::board) permit: Option<Permit>,
}
