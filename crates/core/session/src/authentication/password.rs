//! A password in memory.

use std::fmt;

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// A password as bytes, because PostgreSQL does not require UTF-8. It is wiped when dropped, and `Debug` never shows
/// it.
#[derive(Clone)]
pub struct Password(Zeroizing<Vec<u8>>);

impl Password {
    /// Makes a password from its bytes.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(Zeroizing::new(bytes.into()))
    }

    /// The password's bytes. Never log them.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }

    /// Whether `other` is the same password. The time depends only on the length of `other`.
    pub fn matches(&self, other: &[u8]) -> bool {
        self.0.as_slice().ct_eq(other).into()
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(..)")
    }
}
