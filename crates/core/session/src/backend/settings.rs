//! What holds for every login on a listener.

use std::fmt;
use std::num::NonZeroU32;

use trunkline_wire::Limits;

use crate::authentication::scram::{ITERATIONS_DEFAULT, KEY_BYTES, ScramKeys, ScramSecret, keys};

/// Whether clients may, or must, use TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsOffer {
    /// An SSLRequest is answered `N`: no certificate, or a Unix socket.
    Disabled,
    /// A client may choose.
    Allowed,
    /// A client that does not is refused.
    Required,
}

/// Settings of [`Login`](super::Login), shared by all the logins on a listener.
#[derive(Clone)]
pub struct LoginSettings {
    /// TLS on this listener.
    pub tls: TlsOffer,
    /// Whether a clear text password may be asked for without TLS. Fit for Unix sockets and trusted networks.
    pub cleartext_without_tls: bool,
    /// Bounds of what a client may send.
    pub limits: Limits,
    /// Iterations of SCRAM secrets made here, for users whose password is stored plain and for mock exchanges with
    /// users that do not exist. A different number than the real secrets' would tell the two apart.
    pub scram_iterations: NonZeroU32,
    /// Random bytes, the same for as long as the process lives: the salts of mock exchanges come from it.
    pub mock_key: [u8; KEY_BYTES],
}

impl LoginSettings {
    /// TLS disabled, clear text refused, PostgreSQL's limits and iterations.
    ///
    /// `mock_key`: random; see [`LoginSettings::mock_key`].
    pub fn new(mock_key: [u8; KEY_BYTES]) -> Self {
        Self {
            tls: TlsOffer::Disabled,
            cleartext_without_tls: false,
            limits: Limits::default(),
            scram_iterations: NonZeroU32::new(ITERATIONS_DEFAULT).unwrap_or(NonZeroU32::MIN),
            mock_key,
        }
    }

    /// The keys of a user whose password is stored plain, with the salt a mock exchange would have.
    ///
    /// Slow (see [`keys::derive`]) but always the same, so worth doing once when the configuration is read: store
    /// [`ScramKeys::to_secret`] for the login.
    pub fn scram_keys(&self, user: &str, password: &[u8]) -> ScramKeys {
        let mock = self.mock_secret(user);
        keys::derive(password, mock.salt(), self.scram_iterations)
    }

    /// The secret of an exchange with a user who does not exist.
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
