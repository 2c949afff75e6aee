//! Where nonces and salts come from, so that a simulation can repeat itself.

/// A source of random bytes, lent by the caller.
///
/// In production it must be the operating system's (nonces and salts protect the login); in a simulation or a
/// test it may be a seeded generator.
pub trait Entropy {
    /// Fills the whole of `bytes` with unpredictable bytes.
    fn fill(&mut self, bytes: &mut [u8]);
}

impl<F: FnMut(&mut [u8])> Entropy for F {
    fn fill(&mut self, bytes: &mut [u8]) {
        self(bytes);
    }
}
