//! Certificates and keys, from their files to what the workers use.

use std::fmt;
use std::sync::Arc;

use trunkline_net::tls::client::{ClientIdentity, Roots, SslMode};
use trunkline_net::tls::server::{ClientAuth, MinProtocol, ServerTlsFiles};
use trunkline_net::tls::{ClientTls, ServerTls, TlsFileError};

use super::directory::uses_tls;
use crate::config::{self, Config, RootCertificates, TlsVersion};
use crate::worker::TlsSet;

/// The different TLS settings towards servers, numbered. A number keeps its meaning over reloads, so that a database
/// does not look changed when others come and go.
#[derive(Clone, Debug, Default)]
pub(super) struct TlsProfiles(Vec<config::ServerTls>);

impl TlsProfiles {
    /// These, and those of `config` that are new.
    pub(super) fn with(&self, config: &Config) -> Self {
        let mut profiles = self.0.clone();
        for database in config.databases.values().filter(|database| uses_tls(database)) {
            if !profiles.contains(&database.tls) {
                profiles.push(database.tls.clone());
            }
        }
        Self(profiles)
    }

    /// The number of a database's settings; 0, which nobody asks for, where it has no TLS.
    pub(super) fn number(&self, database: &config::Database) -> usize {
        self.0.iter().position(|profile| *profile == database.tls).unwrap_or(0)
    }
}

/// A certificate that cannot be used.
#[derive(Debug)]
pub struct CertificateError {
    /// The part of the configuration that names it.
    section: String,
    error: TlsFileError,
}

impl fmt::Display for CertificateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.section, self.error)
    }
}

impl std::error::Error for CertificateError {}

/// What is in force, for a reload that finds a file broken.
pub(super) struct InForce<'f> {
    pub(super) config: &'f Config,
    pub(super) tls: &'f TlsSet,
}

/// Reads every file that `config` names, at a reload too: they may have changed under their names.
///
/// A file that broke since it was read, under settings that did not change, leaves what is in force in place, and a
/// line in the log says so.
///
/// # Errors
/// A file that cannot be used where nothing is in force instead.
pub(super) fn load(
    config: &Config,
    profiles: &TlsProfiles,
    before: Option<&InForce<'_>>,
) -> Result<TlsSet, CertificateError> {
    let same = before.filter(|before| before.config.tls.client == config.tls.client);
    let clients = match clients(&config.tls.client) {
        Err(error) => Some(keep("tls.client", same.and_then(|same| same.tls.clients.as_ref()), error)?),
        Ok(loaded) => loaded,
    };
    let mut servers = Vec::with_capacity(profiles.0.len());
    for (number, profile) in profiles.0.iter().enumerate() {
        let known = before.and_then(|before| before.tls.servers.get(number));
        let mut users =
            config.databases.iter().filter(|(_, database)| uses_tls(database) && database.tls == *profile);
        servers.push(match (users.next(), known) {
            // Its connections may still be there, its files need not.
            (None, Some(known)) => Arc::clone(known),
            (user, known) => match server(profile) {
                Ok(loaded) => loaded,
                Err(error) => {
                    let section =
                        user.map_or("tls.server".to_owned(), |(name, _)| format!("databases.{name}"));
                    keep(&section, known, error)?
                }
            },
        });
    }
    Ok(TlsSet { clients, servers })
}

fn keep<T>(section: &str, known: Option<&Arc<T>>, error: TlsFileError) -> Result<Arc<T>, CertificateError> {
    let error = CertificateError { section: format!("[{section}]"), error };
    let Some(known) = known else { return Err(error) };
    tracing::error!("{error}; the certificates that were read before stay in use");
    Ok(Arc::clone(known))
}

fn clients(settings: &config::ClientTls) -> Result<Option<Arc<ServerTls>>, TlsFileError> {
    // The configuration was refused if one of them were missing.
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

fn server(settings: &config::ServerTls) -> Result<Arc<ClientTls>, TlsFileError> {
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

    /// A directory with `own.crt` and `own.key` that fit.
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
    fn a_certificate_is_read_again_and_a_broken_one_leaves_the_old() {
        let files = Files::new();
        let config = files.config(&format!("{CLIENT}{REST}"));
        let profiles = TlsProfiles::default().with(&config);
        let first = load(&config, &profiles, None).expect("good files");
        assert!(clients(&first).accept().is_ok());

        files.renew();
        let before = InForce { config: &config, tls: &first };
        let renewed = load(&config, &profiles, Some(&before)).expect("good files");
        assert!(!Arc::ptr_eq(clients(&first), clients(&renewed)));

        std::fs::write(files.path("own.key"), "nothing").expect("written");
        let before = InForce { config: &config, tls: &renewed };
        let kept = load(&config, &profiles, Some(&before)).expect("the old ones stay");
        assert!(Arc::ptr_eq(clients(&renewed), clients(&kept)));

        let stricter = files.config(&format!("{CLIENT}min_protocol = \"TLSv1.3\"\n{REST}"));
        let error =
            load(&stricter, &profiles, Some(&before)).err().expect("nothing to fall back on").to_string();
        assert!(error.starts_with("[tls.client]: ") && error.contains("own.key"), "{error}");
        assert!(load(&config, &profiles, None).is_err());
    }

    #[test]
    fn a_profile_keeps_its_number_and_outlives_its_file() {
        let files = Files::new();
        let entry = |name: &str, root: &str| {
            format!("[databases.{name}]\nhost = \"h\"\nsslmode = \"verify-ca\"\nsslrootcert = \"{root}\"\n")
        };
        std::fs::copy(files.path("own.crt"), files.path("other.crt")).expect("copied");
        let old = files.config(&format!("{REST}{}", entry("n", "own.crt")));
        let profiles = TlsProfiles::default().with(&old);
        let loaded = load(&old, &profiles, None).expect("good files");
        assert_eq!((profiles.number(&old.databases["m"]), profiles.number(&old.databases["n"])), (0, 1));

        // `n` is gone with its file, and `a`, which comes first, is new.
        std::fs::remove_file(files.path("own.crt")).expect("removed");
        let new = files.config(&format!("{REST}{}", entry("a", "other.crt")));
        let more = profiles.with(&new);
        assert_eq!((more.number(&new.databases["m"]), more.number(&new.databases["a"])), (0, 2));
        let before = InForce { config: &old, tls: &loaded };
        let reloaded = load(&new, &more, Some(&before)).expect("what is used can be read");
        assert_eq!(reloaded.servers.len(), 3);
        assert!(Arc::ptr_eq(&loaded.servers[1], &reloaded.servers[1]));

        std::fs::write(files.path("other.crt"), "nothing").expect("written");
        let error = load(&new, &more, Some(&before)).err().expect("never read before").to_string();
        assert!(error.starts_with("[databases.a]: "), "{error}");
        assert!(error.contains(&Path::new("other.crt").display().to_string()), "{error}");
    }
}
