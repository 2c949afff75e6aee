//! TLS as `sslmode` asks.

use trunkline_net::tls::{ClientTls, SslMode};
use trunkline_session::frontend::TlsWish;

use crate::config::TlsSettings;
use crate::error::{Error, Kind};

/// What is tried at one server, one after the other until one is not refused.
pub(crate) fn attempts(settings: &TlsSettings, unix: bool) -> &'static [TlsWish] {
    use TlsWish::{Direct, Never, Prefer, Require};
    match settings.mode {
        // TLS does not go over a unix socket, as in libpq.
        _ if unix => &[Never],
        SslMode::Disable => &[Never],
        SslMode::Allow => &[Never, Require],
        // A login that the server refuses with TLS may pass without.
        SslMode::Prefer => &[Prefer, Never],
        _ if settings.direct => &[Direct],
        _ => &[Require],
    }
}

/// Reads the certificates.
pub(crate) fn client(settings: &TlsSettings) -> Result<std::sync::Arc<ClientTls>, Error> {
    ClientTls::new(settings.mode, settings.roots.as_ref(), settings.identity.as_ref())
        .map_err(|error| Error::new(Kind::Tls(error.to_string())))
}
