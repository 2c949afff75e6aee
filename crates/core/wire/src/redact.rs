//! How fields that may hold secrets or people's data look in `Debug` output.

use std::fmt;

/// Shows how many bytes a field has, and none of them.
pub(crate) struct Redacted(pub(crate) usize);

impl fmt::Debug for Redacted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{} bytes>", self.0)
    }
}

/// Shows a name as text, with what is not printable ASCII escaped.
pub(crate) struct Name<'a>(pub(crate) &'a [u8]);

impl fmt::Debug for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}
