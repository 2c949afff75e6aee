//! Certificates for a test, in a directory that is removed with it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
};
use tempfile::TempDir;
use trunkline_net::tls::{ClientAuth, ClientIdentity, MinProtocol, Roots, ServerTls, ServerTlsFiles};

/// An authority, and the files of the certificates that it signs.
pub(crate) struct Authority {
    pub(crate) dir: TempDir,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let dir = TempDir::new().expect("a temporary folder");
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer =
            CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("a root");
        fs::write(dir.path().join("root.crt"), issuer.pem()).expect("root.crt written");
        Self { dir, issuer }
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.dir.path().join(file)
    }

    pub(crate) fn roots(&self) -> Roots {
        Roots::File(self.path("root.crt"))
    }

    /// Signs a certificate and writes `<file>.crt` and `<file>.key`.
    pub(crate) fn sign(&self, file: &str, adjust: impl FnOnce(&mut CertificateParams)) -> ClientIdentity {
        let mut params = CertificateParams::default();
        params.distinguished_name = rcgen::DistinguishedName::new();
        adjust(&mut params);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        let identity = ClientIdentity {
            cert: self.path(&format!("{file}.crt")),
            key: self.path(&format!("{file}.key")),
        };
        fs::write(&identity.cert, certificate.pem()).expect("certificate written");
        fs::write(&identity.key, key.serialize_pem()).expect("key written");
        identity
    }

    /// A certificate for these host names and addresses.
    pub(crate) fn server(&self, names: &[&str]) -> ServerTlsFiles {
        let identity = self.sign("server", |params| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            params.subject_alt_names = CertificateParams::new(names).expect("names").subject_alt_names;
        });
        server_files(&identity.cert, &identity.key)
    }

    /// A client's certificate.
    pub(crate) fn client(&self, file: &str) -> ClientIdentity {
        self.sign(file, |params| {
            params.distinguished_name.push(DnType::CommonName, "alice");
            params.extended_key_usages.push(ExtendedKeyUsagePurpose::ClientAuth);
        })
    }
}

pub(crate) fn server_files(cert: &Path, key: &Path) -> ServerTlsFiles {
    ServerTlsFiles {
        cert: cert.to_owned(),
        key: key.to_owned(),
        client_ca: None,
        client_auth: ClientAuth::Off,
        min_protocol: MinProtocol::Tls12,
    }
}

/// A file of `tests/certificates`. These were made by OpenSSL.
pub(crate) fn fixture(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/certificates").join(file)
}

pub(crate) fn fixture_server(cert: &str, key: &str) -> Arc<ServerTls> {
    ServerTls::load(server_files(&fixture(cert), &fixture(key))).expect("the fixture loads")
}
