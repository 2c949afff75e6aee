//! What can be learnt of a session from a command's text, and not from the server's answers.
//!
//! PostgreSQL's own grammar reads it, once for all who send it ([`Classes`]). A text that cannot be read may do
//! anything.

mod classes;
mod effects;
mod known;
mod literals;
mod plain;
mod reading;
mod reset;
mod wide;

pub use classes::{Classes, ClassesStatus};
pub(crate) use classes::{Later, ParseBudget};
pub(crate) use effects::Effects;
pub(crate) use known::is_only_rows;
pub(crate) use literals::{Depth, Literals, PARSE_SETTINGS};
pub(crate) use reading::Reading;
pub(crate) use reset::Reset;
