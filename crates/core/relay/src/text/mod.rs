//! What an SQL text may do to its session. The server's answers do not tell all of it.
//!
//! PostgreSQL's own grammar parses each text once for all clients that send it ([`Classes`]). We assume that a text
//! which does not parse may do anything.

mod analysis;
mod classes;
mod effects;
mod literals;
mod plain;
mod quoting;
mod setting_change;
mod wide;

pub(crate) use analysis::is_only_rows;
pub use classes::{Classes, ClassesStatus};
pub(crate) use classes::{ParseBudget, ParseBudgetUsed};
pub(crate) use effects::Effects;
pub(crate) use literals::{Depth, Literals, PARSE_SETTINGS};
pub(crate) use quoting::QuotingSettings;
pub(crate) use setting_change::SettingChange;
