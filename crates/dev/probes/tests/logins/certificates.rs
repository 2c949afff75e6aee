//! Certificates made for a test, and a TLS client that trusts them.

use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;

use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, StreamOwned};
use tempfile::TempDir;
use trunkline_testkit::PATIENCE;

/// A client's TLS stream to the proxy or to a server.
pub(crate) type TlsStream = StreamOwned<ClientConnection, TcpStream>;

/// A self-signed certificate for `localhost` and 127.0.0.1, in two files.
pub(crate) struct Certificate {
    der: CertificateDer<'static>,
    key: rcgen::KeyPair,
    folder: TempDir,
}

impl Certificate {
    pub(crate) fn new() -> Self {
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let made = rcgen::generate_simple_self_signed(names).expect("a certificate");
        let folder = tempfile::tempdir().expect("a folder");
        let certificate = Self { der: made.cert.der().clone(), key: made.signing_key, folder };
        std::fs::write(certificate.cert(), made.cert.pem()).expect("written");
        std::fs::write(certificate.key(), certificate.key.serialize_pem()).expect("written");
        certificate
    }

    pub(crate) fn cert(&self) -> PathBuf {
        self.folder.path().join("proxy.crt")
    }

    pub(crate) fn key(&self) -> PathBuf {
        self.folder.path().join("proxy.key")
    }

    /// Replaces the files by another certificate and its key, like a renewal.
    pub(crate) fn replace_by(&self, other: &Self) {
        std::fs::copy(other.key(), self.key()).expect("copied");
        std::fs::copy(other.cert(), self.cert()).expect("copied");
    }

    /// Makes a TLS connection to the peer that has this certificate, with this `alpn`.
    pub(crate) fn client(&self, stream: TcpStream, alpn: &[&[u8]]) -> TlsStream {
        client(&self.der, stream, alpn)
    }

    /// The TLS configuration of a server with this certificate.
    pub(crate) fn server_config(&self) -> Arc<ServerConfig> {
        let key = PrivateKeyDer::try_from(self.key.serialize_der()).expect("a key");
        let config =
            ServerConfig::builder().with_no_client_auth().with_single_cert(vec![self.der.clone()], key);
        Arc::new(config.expect("a certificate and its key"))
    }
}

/// Makes a TLS connection to the peer that has the certificate `root`.
pub(crate) fn client(root: &CertificateDer<'static>, stream: TcpStream, alpn: &[&[u8]]) -> TlsStream {
    let mut roots = RootCertStore::empty();
    roots.add(root.clone()).expect("a certificate");
    let mut config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
    let name = ServerName::try_from("localhost").expect("a name");
    let connection = ClientConnection::new(Arc::new(config), name).expect("TLS");
    StreamOwned::new(connection, stream)
}

/// A TCP connection whose reads have a deadline.
pub(crate) fn dial(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("accepted");
    stream.set_read_timeout(Some(PATIENCE)).expect("set");
    stream
}
