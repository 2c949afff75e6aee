//! What the text of a command says of its session, as far as no answer of the server tells.
//!
//! PostgreSQL's own grammar reads it, once for all who send it ([`Classes`]). What cannot be known is taken for what may do
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
pub(crate) use classes::{Later, ParseShare};
pub(crate) use effects::Effects;
pub(crate) use known::is_only_rows;
pub(crate) use literals::{Depth, Literals, READ_BY};
pub(crate) use reading::Reading;
pub(crate) use reset::Reset;
