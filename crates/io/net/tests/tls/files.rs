//! Bad certificate and key files: each error names the file and what is wrong with it.

use std::fs;

use trunkline_net::tls::{ClientAuth, ClientIdentity, ClientTls, Roots, ServerTls, ServerTlsFiles, SslMode};

use crate::authority::Authority;

fn error_text(files: ServerTlsFiles) -> String {
    ServerTls::load(files).expect_err("the files are bad").to_string()
}

#[test]
fn each_error_names_its_file() {
    let authority = Authority::new("ours");
    let good = authority.server(&["db.example"]);
    let with = |name: &str, content: &[u8]| {
        let path = authority.path(name);
        fs::write(&path, content).expect("written");
        path
    };
    let certificate = fs::read(&good.cert).expect("readable");
    let cut = &certificate[..certificate.len() - 20];
    let cases = [
        (ServerTlsFiles { cert: authority.path("absent.crt"), ..good.clone() }, "absent.crt: No such file"),
        (
            ServerTlsFiles { cert: with("empty.crt", b""), ..good.clone() },
            "empty.crt: there is no certificate",
        ),
        (ServerTlsFiles { cert: with("cut.crt", cut), ..good.clone() }, "cut.crt: it is cut off"),
        (ServerTlsFiles { cert: good.key.clone(), ..good.clone() }, "server.key: there is no certificate"),
        (
            ServerTlsFiles {
                cert: with("odd.crt", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
                ..good.clone()
            },
            "odd.crt: certificate 1 in it cannot be parsed",
        ),
        (ServerTlsFiles { key: good.cert.clone(), ..good.clone() }, "server.crt: there is no private key"),
        (
            ServerTlsFiles {
                key: with(
                    "locked.key",
                    b"-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
                ),
                ..good.clone()
            },
            "locked.key: the key is locked with a passphrase",
        ),
        (
            ServerTlsFiles {
                key: with("odd.key", b"-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n"),
                ..good.clone()
            },
            "odd.key: the key is of a kind that is not supported",
        ),
        (
            ServerTlsFiles { client_auth: ClientAuth::Required, ..good.clone() },
            "a CA file to check them against is needed",
        ),
        (
            ServerTlsFiles {
                client_auth: ClientAuth::Optional,
                client_ca: Some(authority.path("absent-ca.crt")),
                ..good
            },
            "absent-ca.crt: No such file",
        ),
    ];
    for (files, expected) in cases {
        let error_text = error_text(files);
        assert!(error_text.contains(expected), "{error_text:?} should say {expected:?}");
        assert!(
            !error_text.contains("c2VjcmV0") && !error_text.contains("secret"),
            "no key material: {error_text}"
        );
    }
}

#[test]
fn the_files_of_a_client_are_checked_too() {
    let authority = Authority::new("ours");
    let one = authority.client("one");
    let other = authority.client("other");
    let mixed = ClientIdentity { cert: one.cert, key: other.key };
    let error = ClientTls::new(SslMode::Require, None, Some(&mixed)).expect_err("not a pair");
    assert!(error.to_string().contains("one.crt") && error.to_string().contains("other.key"), "{error}");
    let roots = Roots::File(authority.path("absent.crt"));
    let error = ClientTls::new(SslMode::VerifyCa, Some(&roots), None).expect_err("absent");
    assert!(error.to_string().contains("absent.crt"), "{error}");
}
