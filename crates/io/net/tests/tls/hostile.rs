//! Peers that violate the protocol get an error that says so, never a session. There is never a panic.

use std::io::{Read, Write};
use std::net::Shutdown;

use trunkline_net::stream::Stream;
use trunkline_net::tls::session::CLIENT_MESSAGE_BYTES_MAX;
use trunkline_net::tls::{ClientTls, ServerTls, SslMode, TlsError, TlsSession};

use crate::authority::Authority;
use crate::pair::{connected, wait_readable};
use crate::session::pair;

/// A session whose peer does not follow the TLS protocol.
struct UnderAttack {
    stream: Stream,
    session: TlsSession,
}

impl UnderAttack {
    fn until_error(&mut self) -> std::io::Error {
        let mut plaintext = Vec::new();
        loop {
            wait_readable(&mut self.stream);
            match self.session.receive(&mut self.stream, &mut plaintext) {
                Err(error) => return error,
                Ok(received) => assert!(!received.eof && plaintext.is_empty(), "taken for TLS: {received:?}"),
            }
        }
    }
}

#[test]
fn bytes_that_are_not_tls_are_an_error() {
    let authority = Authority::new("ours");
    let server = ServerTls::load(authority.server(&["db.example"])).expect("loads");
    let mut large = vec![0x16, 3, 1, 0x40, 0];
    large.extend_from_slice(&[1, 0xff, 0xff, 0xff]);
    large.resize(70_000, 0);
    let junk: [&[u8]; 5] = [
        b"GET / HTTP/1.1\r\n\r\n",
        &[0; 64],
        &[0x16, 3, 1, 0xff, 0xff, 1, 2],
        &[0x15, 3, 3, 0, 2, 2, 40],
        &large,
    ];
    for bytes in junk {
        let (_poll, mut peer, stream) = connected();
        let mut end = UnderAttack { stream, session: server.accept().expect("ok") };
        peer.write_all(bytes).expect("small enough for the socket");
        peer.shutdown(Shutdown::Write).expect("shut");
        let error = end.until_error();
        assert!(
            matches!(
                TlsError::of(&error),
                Some(
                    TlsError::PeerMisbehaved { .. }
                        | TlsError::PeerRefused { .. }
                        | TlsError::MessageTooLarge
                )
            ),
            "{:?}: {error}",
            &bytes[..7]
        );
        let again = end.until_error();
        assert_eq!(TlsError::of(&again), TlsError::of(&error), "a fault is final");
    }
}

/// The first message of a real client.
fn client_hello() -> Vec<u8> {
    let client = ClientTls::new(SslMode::Require, None, None).expect("loads");
    let (_poll, mut stream, mut other) = connected();
    let mut session = client.connect("db.example").expect("ok");
    session.flush(&mut stream).expect("sent");
    stream.shutdown(Shutdown::Write).expect("shut");
    let mut hello = Vec::new();
    wait_readable(&mut other);
    other.read_to_end(&mut hello).expect("all there");
    hello
}

/// Tries every prefix of a real first message, and the message with each of its bytes changed.
#[test]
fn a_mangled_first_message_never_causes_a_panic() {
    let authority = Authority::new("ours");
    let server = ServerTls::load(authority.server(&["db.example"])).expect("loads");
    let hello = client_hello();
    let (_poll, _peer, mut silent) = connected();
    let mut receive = |pieces: &[&[u8]]| {
        let mut session = server.accept().expect("ok");
        let mut plaintext = Vec::new();
        let mut result = Ok(());
        for bytes in pieces {
            session.feed(bytes);
            result = session.receive(&mut silent, &mut plaintext).map(drop);
        }
        assert!(session.handshaking() && plaintext.is_empty());
        result
    };
    for place in 0..hello.len() {
        receive(&[&hello[..place]]).expect("a prefix is no fault");
        receive(&[&hello[..place], &hello[place..]]).expect("nor are two pieces");
        for change in [0x01, 0x80, 0xff] {
            let mut mangled = hello.clone();
            mangled[place] ^= change;
            let _ = receive(&[&mangled]);
        }
    }
    // An incomplete message in one record, followed by a record of another kind; split at each position.
    for other in [0x14, 0x15, 0x16, 0x17, 0x18] {
        let mut broken = vec![0x16, 3, 1, 0, 10, 1, 0, 1, 44, 3, 3, 0, 0, 0, 0];
        broken.extend_from_slice(&[other, 3, 3, 0, 2, 1, 0, 0x16, 3, 1, 0, 1, 0]);
        for place in 0..broken.len() {
            let _ = receive(&[&broken[..place], &broken[place..]]);
        }
    }
}

#[test]
fn a_handshake_may_come_in_single_bytes() {
    let authority = Authority::new("ours");
    let server = ServerTls::load(authority.server(&["db.example"])).expect("loads");
    let (_poll, _peer, mut silent) = connected();
    // The message is split into records with one byte each, and the records come byte by byte.
    let hello = client_hello();
    let message = hello.get(5..).expect("a record has a header");
    let mut session = server.accept().expect("ok");
    let mut plaintext = Vec::new();
    for byte in message {
        for piece in [0x16, 3, 1, 0, 1, *byte] {
            session.feed(&[piece]);
            session.receive(&mut silent, &mut plaintext).expect("no fault");
        }
    }
    assert!(session.describe().expect("a suite is agreed on").starts_with("TLSv1_3 "));
}

#[test]
fn a_tampered_record_ends_the_session() {
    let mut pair = pair();
    pair.exchange();
    // A forged record in the middle of the stream, as an attacker could insert.
    pair.client.stream.write_all(&[0x17, 3, 3, 0, 32]).expect("written");
    pair.client.stream.write_all(&[7; 32]).expect("written");
    pair.run_until("the fault", |pair| pair.server.error.is_some());
    assert!(
        matches!(pair.server.tls_error(), Some(TlsError::PeerMisbehaved { .. })),
        "{:?}",
        pair.server.error
    );
    pair.run_until("the alert", |pair| pair.client.error.is_some());
    assert!(matches!(pair.client.tls_error(), Some(TlsError::PeerRefused { .. })), "{:?}", pair.client.error);
}

#[test]
fn an_incomplete_message_of_a_client_takes_bounded_memory() {
    let authority = Authority::new("ours");
    let server = ServerTls::load(authority.server(&["db.example"])).expect("loads");
    let (_poll, _peer, mut silent) = connected();
    let mut session = server.accept().expect("ok");
    let mut plaintext = Vec::new();
    // A ClientHello of 60,000 bytes in records of 1,000 bytes. rustls alone would wait for the whole message.
    let mut message = vec![1, 0, 0xea, 0x60];
    message.resize(60_000, 0);
    let mut handed_in = 0;
    let error = message
        .chunks(1000)
        .find_map(|piece| {
            session.feed(&[0x16, 3, 1, 3, 0xe8]);
            session.feed(piece);
            handed_in += piece.len() + 5;
            session.receive(&mut silent, &mut plaintext).err()
        })
        .expect("too much");
    assert_eq!(TlsError::of(&error), Some(&TlsError::MessageTooLarge));
    assert!((CLIENT_MESSAGE_BYTES_MAX..CLIENT_MESSAGE_BYTES_MAX + 2000).contains(&handed_in), "{handed_in}");
}
