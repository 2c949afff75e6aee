//! Channel bindings, compared with those that OpenSSL computes.

use std::fmt::Write;

use trunkline_net::tls::{ClientTls, SslMode};

use crate::authority::{fixture, fixture_server};
use crate::pair::Pair;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing into a String");
        text
    })
}

#[test]
fn both_ends_have_the_hash_that_openssl_computes() {
    let client = ClientTls::new(SslMode::Require, None, None).expect("loads");
    let expected = std::fs::read_to_string(fixture("bindings.txt")).expect("bindings.txt");
    assert_eq!(expected.lines().count(), 9, "every certificate is in it");
    for line in expected.lines() {
        let (name, hash) = line.split_once(' ').expect("a name and a hash");
        let key = if name.starts_with("ecdsa") { "ecdsa.key" } else { "rsa.key" };
        let server = fixture_server(&format!("{name}.crt"), key);
        let mut pair =
            Pair::new(client.connect("localhost").expect("a session"), server.accept().expect("a session"));
        assert_eq!(pair.client.session.channel_binding(), None, "{name}: not before the handshake");
        assert_eq!(pair.server.session.channel_binding(), None, "{name}: not before the handshake");
        pair.handshake();
        let client_binding = pair.client.session.channel_binding().map(|binding| hex(&binding));
        let server_binding = pair.server.session.channel_binding().map(|binding| hex(&binding));
        assert_eq!(client_binding.as_deref(), Some(hash), "{name}, client: {:?}", pair.client.error);
        assert_eq!(server_binding.as_deref(), Some(hash), "{name}, server");
    }
}

#[test]
fn ed25519_has_no_binding() {
    let client = ClientTls::new(SslMode::Require, None, None).expect("loads");
    let server = fixture_server("ed25519.crt", "ed25519.key");
    let mut pair =
        Pair::new(client.connect("localhost").expect("a session"), server.accept().expect("a session"));
    pair.handshake();
    pair.exchange();
    assert_eq!(pair.client.session.channel_binding(), None);
    assert_eq!(pair.server.session.channel_binding(), None);
}
