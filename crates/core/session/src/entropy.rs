//! The source of nonces and salts. The caller gives it, so that a simulation can be repeated with the same bytes.

/// A source of random bytes.
///
/// In production this must be the operating system's generator, because nonces and salts protect the login. In a
/// simulation or a test it may be a seeded generator.
pub trait Entropy {
    /// Fills the whole of `bytes` with unpredictable bytes.
    fn fill(&mut self, bytes: &mut [u8]);
}

impl<F: FnMut(&mut [u8])> Entropy for F {
    fn fill(&mut self, bytes: &mut [u8]) {
        self(bytes);
    }
}
