//! What the text of a command says of its session, as far as no answer of the server tells.
//!
//! It is read by tokens, without a parse: enough for the few commands that matter here. What is not understood is taken
//! for one that may change settings.

mod effects;
mod literals;
mod statement;
mod wide;

pub(crate) use effects::{Effects, Reset};
pub(crate) use literals::{Depth, Literals, READ_BY};
