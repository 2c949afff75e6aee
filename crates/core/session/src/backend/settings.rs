//! The settings of all logins on a listener.

use std::fmt;
use std::num::NonZeroU32;

use trunkline_wire::Limits;

use crate::authentication::scram::{ITERATIONS_DEFAULT, KEY_BYTES, ScramKeys, ScramSecret, keys};

/// Whether clients may, or must, use TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsOffer {
    /// We answer an SSLRequest with `N`, because there is no certificate or the listener is a Unix socket.
    Disabled,
    /// A client may use TLS or not.
    Allowed,
    /// A client that does not use TLS is refused.
    Required,
}

/// The settings of [`Login`](super::Login) that all logins on a listener share.
#[derive(Clone)]
pub struct LoginSettings {
    /// Whether this listener offers TLS.
    pub tls: TlsOffer,
    /// Whether we may ask for a clear text password without TLS. Only for Unix sockets and trusted networks.
    pub cleartext_without_tls: bool,
    /// The limits on what a client may send.
    pub limits: Limits,
    /// The iteration count of SCRAM secrets that are made here: for users whose password is stored in plain text, and
    /// for mock exchanges with users who do not exist. If it differs from the count of the stored SCRAM secrets, a
    /// client can find out which users exist.
    pub scram_iterations: NonZeroU32,
    /// Random bytes that stay the same while the process lives. The salts of mock exchanges are computed from them.
    pub mock_key: [u8; KEY_BYTES],
}

impl LoginSettings {
    /// Settings without TLS and without clear text passwords, with PostgreSQL's limits and iteration count.
    ///
    /// `mock_key` must be random; see [`LoginSettings::mock_key`].
    pub fn new(mock_key: [u8; KEY_BYTES]) -> Self {
        Self {
            tls: TlsOffer::Disabled,
            cleartext_without_tls: false,
            limits: Limits::default(),
            scram_iterations: NonZeroU32::new(ITERATIONS_DEFAULT).unwrap_or(NonZeroU32::MIN),
            mock_key,
        }
    }

    /// The keys of a user whose password is stored in plain text. The salt is the one that a mock exchange would have.
    ///
    /// This is slow (see [`keys::derive`]), but the result is always the same. So call it once when the configuration
    /// is read, and keep [`ScramKeys::to_secret`] for logins.
    pub fn scram_keys(&self, user: &str, password: &[u8]) -> ScramKeys {
        let mock = self.mock_secret(user);
        keys::derive(password, mock.salt(), self.scram_iterations)
    }

    /// The secret for an exchange with a user who does not exist.
    pub(super) fn mock_secret(&self, user: &str) -> ScramSecret {
        ScramSecret::mock(user, &self.mock_key, self.scram_iterations)
    }
}

impl fmt::Debug for LoginSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoginSettings")
            .field("tls", &self.tls)
            .field("cleartext_without_tls", &self.cleartext_without_tls)
            .field("limits", &self.limits)
            .field("scram_iterations", &self.scram_iterations)
            .finish_non_exhaustive()
    }
}
