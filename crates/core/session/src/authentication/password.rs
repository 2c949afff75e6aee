//! A password in memory.

use std::fmt;

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// A password as bytes (PostgreSQL does not insist on UTF-8): wiped when dropped, never shown by `Debug`.
#[derive(Clone)]
pub struct Password(Zeroizing<Vec<u8>>);

impl Password {
    /// Takes the password's bytes.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(Zeroizing::new(bytes.into()))
    }

    /// The bytes themselves: not to be logged.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }

    /// Whether `other` is the same password; takes as long for any `other` of the same length.
    pub fn matches(&self, other: &[u8]) -> bool {
        self.0.as_slice().ct_eq(other).into()
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(..)")
    }
}
