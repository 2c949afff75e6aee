//! Loads certificates and keys for the workers.

use std::fmt;
use std::sync::Arc;

use trunkline_net::tls::client::{ClientIdentity, Roots, SslMode};
use trunkline_net::tls::server::{ClientAuth, MinProtocol, ServerTlsFiles};
use trunkline_net::tls::{ClientTls, ServerTls, TlsFileError};

use super::directory::uses_tls;
use crate::config::{self, Config, RootCertificates, TlsVersion};
use crate::worker::TlsSet;

/// The distinct TLS settings for servers, each with a number. A profile keeps its number over reloads, so that a database
/// does not look changed when others are added or removed.
#[derive(Clone, Debug, Default)]
pub(super) struct TlsProfiles(Vec<config::ServerTls>);

impl TlsProfiles {
    /// These profiles, and the new ones of `config` after them.
    pub(super) fn with_profiles_of(&self, config: &Config) -> Self {
        let mut profiles = self.0.clone();
        for database in config.databases.values().filter(|database| uses_tls(database)) {
            if !profiles.contains(&database.tls) {
                profiles.push(database.tls.clone());
            }
        }
        Self(profiles)
    }

    /// The number of a database's profile. A database without TLS gets 0, which nobody uses.
    pub(super) fn number(&self, database: &config::Database) -> usize {
        self.0.iter().position(|profile| *profile == database.tls).unwrap_or(0)
    }
}

/// A certificate that cannot be used.
#[derive(Debug)]
pub struct CertificateError {
    /// The table of the configuration that names the file.
    section: String,
    error: TlsFileError,
}

impl fmt::Display for CertificateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.section, self.error)
    }
}

impl std::error::Error for CertificateError {}

/// The configuration and the certificates that are in force when a reload begins.
pub(super) struct PreviousTls<'f> {
    pub(super) config: &'f Config,
    pub(super) tls: &'f TlsSet,
}

/// Reads every file that `config` names. A reload reads all of them too, because a file's content may have changed.
///
/// If a file has become unusable but its settings are unchanged, the certificates of `previous` stay in use, and the log
/// says so.
///
/// # Errors
/// A file is unusable, and `previous` has nothing for the same settings.
pub(super) fn load(
    config: &Config,
    profiles: &TlsProfiles,
    previous: Option<&PreviousTls<'_>>,
) -> Result<TlsSet, CertificateError> {
    let unchanged = previous.filter(|previous| previous.config.tls.client == config.tls.client);
    let clients = match load_for_clients(&config.tls.client) {
        Err(error) => Some(keep_previous(
            "tls.client",
            unchanged.and_then(|unchanged| unchanged.tls.clients.as_ref()),
            error,
        )?),
        Ok(loaded) => loaded,
    };
    let mut servers = Vec::with_capacity(profiles.0.len());
    for (number, profile) in profiles.0.iter().enumerate() {
        let known = previous.and_then(|previous| previous.tls.servers.get(number));
        let mut users =
            config.databases.iter().filter(|(_, database)| uses_tls(database) && database.tls == *profile);
        servers.push(match (users.next(), known) {
            // No database uses this profile any more. Connections that use it may still exist; its files may be gone.
            (None, Some(known)) => Arc::clone(known),
            (user, known) => match load_for_server(profile) {
                Ok(loaded) => loaded,
                Err(error) => {
                    let section =
                        user.map_or("tls.server".to_owned(), |(name, _)| format!("databases.{name}"));
                    keep_previous(&section, known, error)?
                }
            },
        });
    }
    Ok(TlsSet { clients, servers })
}

fn keep_previous<T>(
    section: &str,
    known: Option<&Arc<T>>,
    error: TlsFileError,
) -> Result<Arc<T>, CertificateError> {
    let error = CertificateError { section: format!("[{section}]"), error };
    let Some(known) = known else { return Err(error) };
    tracing::error!("{error}; the certificates that were read before stay in use");
    Ok(Arc::clone(known))
}

fn load_for_clients(settings: &config::ClientTls) -> Result<Option<Arc<ServerTls>>, TlsFileError> {
    // The configuration's checks refuse one without the other, so here both are missing: no TLS.
    let (Some(cert), Some(key)) = (&settings.cert, &settings.key) else { return Ok(None) };
    if settings.mode == config::SslMode::Disable {
        return Ok(None);
    }
    let client_auth = match (&settings.ca, settings.mode.verifies()) {
        (_, true) => ClientAuth::Required,
        (Some(_), false) => ClientAuth::Optional,
        (None, false) => ClientAuth::Off,
    };
    let min_protocol = match settings.min_protocol {
        TlsVersion::Tls12 => MinProtocol::Tls12,
        TlsVersion::Tls13 => MinProtocol::Tls13,
    };
    let (cert, key, client_ca) = (cert.clone(), key.clone(), settings.ca.clone());
    ServerTls::load(ServerTlsFiles { cert, key, client_ca, client_auth, min_protocol }).map(Some)
}

fn load_for_server(settings: &config::ServerTls) -> Result<Arc<ClientTls>, TlsFileError> {
    let mode = match settings.sslmode {
        config::SslMode::Disable => SslMode::Disable,
        config::SslMode::Allow => SslMode::Allow,
        config::SslMode::Prefer => SslMode::Prefer,
        config::SslMode::Require => SslMode::Require,
        config::SslMode::VerifyCa => SslMode::VerifyCa,
        config::SslMode::VerifyFull => SslMode::VerifyFull,
    };
    let roots = settings.root.as_ref().map(|root| match root {
        RootCertificates::System => Roots::System,
        RootCertificates::File(path) => Roots::File(path.clone()),
    });
    let identity = settings.cert.clone().zip(settings.key.clone());
    let identity = identity.map(|(cert, key)| ClientIdentity { cert, key });
    ClientTls::new(mode, roots.as_ref(), identity.as_ref())
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;

    /// A directory with a certificate `own.crt` and its key `own.key`.
    struct Files(tempfile::TempDir);

    impl Files {
        fn new() -> Self {
            let files = Self(tempfile::tempdir().expect("a directory"));
            files.renew();
            files
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn renew(&self) {
            let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("made");
            std::fs::write(self.path("own.crt"), made.cert.pem()).expect("written");
            std::fs::write(self.path("own.key"), made.signing_key.serialize_pem()).expect("written");
        }

        fn config(&self, text: &str) -> Config {
            Config::parse(text, "test.toml", self.0.path(), &|_| None).expect("accepted")
        }
    }

    const CLIENT: &str = "[tls.client]\nmode = \"require\"\ncert = \"own.crt\"\nkey = \"own.key\"\n";
    const REST: &str = "[users.u]\npassword = \"x\"\n[databases.m]\nhost = \"h\"\n";

    fn clients(tls: &TlsSet) -> &Arc<ServerTls> {
        tls.clients.as_ref().expect("offered")
    }

    #[test]
    fn a_reload_reads_certificates_again_and_keeps_the_old_ones_when_they_are_broken() {
        let files = Files::new();
        let config = files.config(&format!("{CLIENT}{REST}"));
        let profiles = TlsProfiles::default().with_profiles_of(&config);
        let first = load(&config, &profiles, None).expect("good files");
        assert!(clients(&first).accept().is_ok());

        files.renew();
        let previous = PreviousTls { config: &config, tls: &first };
        let renewed = load(&config, &profiles, Some(&previous)).expect("good files");
        assert!(!Arc::ptr_eq(clients(&first), clients(&renewed)));

        std::fs::write(files.path("own.key"), "nothing").expect("written");
        let previous = PreviousTls { config: &config, tls: &renewed };
        let kept = load(&config, &profiles, Some(&previous)).expect("the old ones stay");
        assert!(Arc::ptr_eq(clients(&renewed), clients(&kept)));

        let stricter = files.config(&format!("{CLIENT}min_protocol = \"TLSv1.3\"\n{REST}"));
        let error =
            load(&stricter, &profiles, Some(&previous)).err().expect("nothing to fall back on").to_string();
        assert!(error.starts_with("[tls.client]: ") && error.contains("own.key"), "{error}");
        assert!(load(&config, &profiles, None).is_err());
    }

    #[test]
    fn a_profile_keeps_its_number_and_works_without_its_file() {
        let files = Files::new();
        let entry = |name: &str, root: &str| {
            format!("[databases.{name}]\nhost = \"h\"\nsslmode = \"verify-ca\"\nsslrootcert = \"{root}\"\n")
        };
        std::fs::copy(files.path("own.crt"), files.path("other.crt")).expect("copied");
        let old = files.config(&format!("{REST}{}", entry("n", "own.crt")));
        let profiles = TlsProfiles::default().with_profiles_of(&old);
        let loaded = load(&old, &profiles, None).expect("good files");
        assert_eq!((profiles.number(&old.databases["m"]), profiles.number(&old.databases["n"])), (0, 1));

        // The entry `n` and its file are gone. The entry `a` is new and stands before the others.
        std::fs::remove_file(files.path("own.crt")).expect("removed");
        let new = files.config(&format!("{REST}{}", entry("a", "other.crt")));
        let more = profiles.with_profiles_of(&new);
        assert_eq!((more.number(&new.databases["m"]), more.number(&new.databases["a"])), (0, 2));
        let previous = PreviousTls { config: &old, tls: &loaded };
        let reloaded = load(&new, &more, Some(&previous)).expect("what is used can be read");
        assert_eq!(reloaded.servers.len(), 3);
        assert!(Arc::ptr_eq(&loaded.servers[1], &reloaded.servers[1]));

        std::fs::write(files.path("other.crt"), "nothing").expect("written");
        let error = load(&new, &more, Some(&previous)).err().expect("never read before").to_string();
        assert!(error.starts_with("[databases.a]: "), "{error}");
        assert!(error.contains(&Path::new("other.crt").display().to_string()), "{error}");
    }
}
