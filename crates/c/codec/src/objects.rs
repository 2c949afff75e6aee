//! The objects that C has handles of.

use std::sync::Arc;

use crate::handles::Table;
use crate::login::LoginObject;
use crate::result::ResultSet;
use crate::session::{Session, Template};

/// Logins.
pub(crate) static LOGINS: Table<LoginObject> = Table::new(1);
/// Sessions.
pub static SESSIONS: Table<Session> = Table::new(2);
/// Results, errors and notices.
pub static RESULTS: Table<ResultSet> = Table::new(3);
/// Templates.
pub static TEMPLATES: Table<Arc<Template>> = Table::new(4);
/// The kinds from here on are the other layers'.
pub const FREE_KIND: u8 = 16;
