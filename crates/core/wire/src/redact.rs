//! How `Debug` shows fields that may hold secrets or personal data.

use std::fmt;

/// Shows how many bytes a field has, but not the bytes.
pub(crate) struct Redacted(pub(crate) usize);

impl fmt::Debug for Redacted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{} bytes>", self.0)
    }
}

/// Shows a name as text. Bytes that are not printable ASCII are escaped.
pub(crate) struct Name<'a>(pub(crate) &'a [u8]);

impl fmt::Debug for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}
