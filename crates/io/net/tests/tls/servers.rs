//! Servers of rustls: each TLS version alone, and a server without the key of its certificate.

use std::io::{Read, Write};
use std::sync::Arc;
use std::thread;

use mio::{Events, Interest, Poll, Token};
use rustls::crypto::ring::default_provider;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{ServerConfig, ServerConnection, SupportedProtocolVersion, version};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use trunkline_net::dial;
use trunkline_net::tls::{ClientTls, Roots, SslMode, TlsError};

use crate::authority::fixture;

/// Connects to a blocking server on another thread, which answers `ping` with `pong`. Returns the session's description.
fn talk(
    client: &ClientTls,
    cert: &str,
    key: &str,
    version: &'static SupportedProtocolVersion,
) -> std::io::Result<String> {
    let provider = Arc::new(default_provider());
    let chain = vec![CertificateDer::from_pem_file(fixture(cert)).expect("readable")];
    let key = PrivateKeyDer::from_pem_file(fixture(key)).expect("readable");
    let key = provider.key_provider.load_private_key(key).expect("a key");
    // The key may belong to another certificate: one of the tests needs that.
    let identity = SingleCertAndKey::from(CertifiedKey::new(chain, key));
    let builder =
        ServerConfig::builder_with_provider(provider).with_protocol_versions(&[version]).expect("ok");
    let config = Arc::new(builder.with_no_client_auth().with_cert_resolver(Arc::new(identity)));
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("bound");
    let address = listener.local_addr().expect("its address");
    let server = thread::spawn(move || {
        let (mut socket, _) = listener.accept().expect("accepted");
        let mut connection = ServerConnection::new(config).expect("ok");
        let mut tls = rustls::Stream::new(&mut connection, &mut socket);
        let mut question = [0; 4];
        // The client may close the connection. Only its result matters.
        let _ = tls.read_exact(&mut question).and_then(|()| tls.write_all(b"pong"));
    });
    let mut poll = Poll::new().expect("poll");
    let mut events = Events::with_capacity(4);
    let mut stream = dial::tcp(address).expect("dialled");
    let both = Interest::READABLE | Interest::WRITABLE;
    poll.registry().register(&mut stream, Token(0), both).expect("registered");
    let mut session = client.connect("localhost").expect("ok");
    let (mut received, mut sent) = (Vec::new(), 0);
    let result = loop {
        poll.poll(&mut events, None).expect("poll");
        if !dial::finish_connect(&stream).expect("connects") {
            continue;
        }
        session.flush(&mut stream).expect("the socket is fine");
        match session.receive(&mut stream, &mut received) {
            Err(error) => break Err(error),
            Ok(done) if done.eof && received != b"pong" => {
                break Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            Ok(_) if received == b"pong" => break Ok(session.describe().expect("agreed")),
            Ok(_) if sent == 0 => sent = session.send(&mut stream, b"ping").expect("sent"),
            Ok(_) => {}
        }
    };
    drop(stream);
    server.join().expect("the server does not panic");
    result
}

#[test]
fn both_versions_work_with_every_kind_of_key() {
    let certificates = [
        ("rsa-sha256.crt", "rsa.key"),
        ("pss-sha256.crt", "rsa.key"),
        ("ecdsa-sha384.crt", "ecdsa.key"),
        ("ed25519.crt", "ed25519.key"),
        ("manual-server.crt", "rsa.key"),
    ];
    for (version, name) in [(&version::TLS12, "TLSv1_2 "), (&version::TLS13, "TLSv1_3 ")] {
        for (cert, key) in certificates {
            let root = if cert.starts_with("manual") { "manual-root.crt" } else { cert };
            let roots = Roots::File(fixture(root));
            for client in [
                ClientTls::new(SslMode::Require, None, None),
                ClientTls::new(SslMode::VerifyFull, Some(&roots), None),
            ] {
                let client = client.expect("loads");
                let spoken = talk(&client, cert, key, version);
                let spoken =
                    spoken.unwrap_or_else(|error| panic!("{cert}, {name}, {}: {error}", client.mode()));
                assert!(spoken.starts_with(name), "{spoken}");
            }
        }
    }
}

/// Even `require` without roots, which accepts any certificate, checks that the server has the certificate's key.
#[test]
fn a_certificate_without_its_key_is_refused_in_every_mode() {
    let roots = Roots::File(fixture("ecdsa-sha384.crt"));
    for client in
        [ClientTls::new(SslMode::Require, None, None), ClientTls::new(SslMode::VerifyCa, Some(&roots), None)]
    {
        let client = client.expect("loads");
        for (cert, key) in [("ecdsa-sha384.crt", "stranger.key"), ("rsa-sha256.crt", "stranger-rsa.key")] {
            if client.mode() == SslMode::VerifyCa && cert.starts_with("rsa") {
                continue; // Its chain is refused before its key is checked.
            }
            for version in [&version::TLS12, &version::TLS13] {
                let error = talk(&client, cert, key, version).expect_err("an impostor");
                match TlsError::of(&error) {
                    Some(TlsError::CertificateRefused { reason }) => {
                        assert!(reason.contains("signature"), "{reason}");
                    }
                    other => panic!("{cert}, {version:?}: {other:?} {error}"),
                }
            }
        }
    }
}
