//! What cannot be sent.

use trunkline_wire::TooLarge;

/// A message that cannot be made. Nothing of it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// Longer than the protocol can say.
    #[error("{0}")]
    TooLarge(#[from] TooLarge),
    /// A text with a zero byte, which the protocol cannot carry.
    #[error("the {0} has a zero byte, which cannot be sent to PostgreSQL")]
    ZeroByte(&'static str),
    /// A simple query after messages that no Sync has ended.
    #[error("a simple query cannot follow messages that no Sync has ended")]
    TurnOpen,
    /// More or fewer values than the statement has parameters.
    #[error("the statement has {expected} parameters, and {} were given", i64::from(*expected) - left)]
    ValueCount {
        /// Parameters of the statement.
        expected: u16,
        /// Values missing; negative: too many.
        left: i64,
    },
}
