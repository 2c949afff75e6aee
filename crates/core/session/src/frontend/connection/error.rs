//! Why a message cannot be encoded.

use trunkline_wire::TooLarge;

/// A message cannot be encoded. No part of it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The message is longer than the protocol allows.
    #[error("{0}")]
    TooLarge(#[from] TooLarge),
    /// A text has a zero byte, which the protocol cannot carry.
    #[error("the {0} has a zero byte, which cannot be sent to PostgreSQL")]
    ZeroByte(&'static str),
    /// A simple query follows messages without a Sync after them.
    #[error("a simple query cannot follow messages that no Sync has ended")]
    TurnOpen,
    /// The number of values is not the statement's number of parameters.
    #[error("the statement has {expected} parameters, and {} were given", i64::from(*expected) - left)]
    ValueCount {
        /// The statement's number of parameters.
        expected: u16,
        /// The number of missing values; negative if there are too many.
        left: i64,
    },
}
