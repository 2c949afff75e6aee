//! Sessions: transfers, slow readers, the end of a session, client certificates, resumption.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::sync::Arc;
use std::thread;

use mio::{Events, Interest, Poll, Token};
use rustls::{ClientConfig, ClientConnection, HandshakeKind, RootCertStore, SupportedProtocolVersion};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use trunkline_net::listen;
use trunkline_net::stream::Stream;
use trunkline_net::tls::session::QUEUED_BYTES_MAX;
use trunkline_net::tls::{
    ALPN_POSTGRESQL, ClientAuth, ClientIdentity, ClientTls, MinProtocol, ServerTls, ServerTlsFiles, SslMode,
    TlsError,
};

use crate::authority::Authority;
use crate::pair::{End, Pair, wait_readable};

pub(crate) fn pair() -> Pair {
    let authority = Authority::new("ours");
    let server = ServerTls::load(authority.server(&["db.example"])).expect("loads");
    let client = ClientTls::new(SslMode::VerifyFull, Some(&authority.roots()), None).expect("loads");
    let mut pair = Pair::new(client.connect("db.example").expect("ok"), server.accept().expect("ok"));
    assert!(pair.client.session.handshaking() && pair.server.session.handshaking());
    pair.handshake();
    pair
}

/// Bytes that show their own position, so that a test sees when some are missing or twice there.
fn numbered(len: usize) -> Vec<u8> {
    (0..len.div_ceil(4)).flat_map(|n| u32::try_from(n).unwrap_or(0).to_be_bytes()).take(len).collect()
}

#[test]
fn both_ends_agree_on_the_protocol() {
    let pair = pair();
    assert_eq!(pair.client.session.alpn(), Some(ALPN_POSTGRESQL));
    assert_eq!(pair.server.session.alpn(), Some(ALPN_POSTGRESQL));
    assert!(pair.server.session.describe().expect("agreed").starts_with("TLSv1_3 "));
    assert_eq!(pair.server.session.peer_certificate(), None);
}

#[test]
fn large_transfers_both_ways_arrive_whole() {
    let mut pair = pair();
    let (up, down) = (numbered(3_000_001), numbered(5_000_003));
    pair.client.to_send.clone_from(&up);
    pair.server.to_send.clone_from(&down);
    pair.run_until("both transfers", |pair| {
        pair.client.received.len() >= 5_000_003 && pair.server.received.len() >= 3_000_001
    });
    assert!(pair.client.received == down && pair.server.received == up);
    assert!(!pair.client.session.wants_write() && !pair.server.session.wants_write());
}

#[test]
fn a_slow_reader_stops_the_sender() {
    /// Many times more than the buffers of the sockets hold.
    const BYTES: usize = 4 << 20;
    let mut pair = pair();
    pair.client.paused = true;
    // Buffers of a set size do not grow by themselves.
    pair.server.socket().set_send_buffer_size(64 << 10).expect("set");
    pair.client.socket().set_recv_buffer_size(64 << 10).expect("set");
    let down = numbered(BYTES);
    pair.server.to_send.clone_from(&down);
    pair.server.step();
    assert!(pair.server.error.is_none(), "{:?}", pair.server.error);
    let accepted = pair.server.sent;
    assert!(accepted > 0 && accepted < down.len(), "stops at {accepted}");
    assert!(pair.server.session.wants_write());
    // The other direction still works.
    pair.client.to_send = b"still here".to_vec();
    pair.run_until("the other direction", |pair| pair.server.received == b"still here");
    // The kernel may have taken a little more in the meantime, but the session's own queue is bounded.
    let queued = queued_bytes(&pair.server);
    assert!(pair.server.session.wants_write() && pair.server.sent < down.len());
    assert!(queued > 0 && queued <= QUEUED_BYTES_MAX + 4096, "{queued} bytes wait");
    pair.client.paused = false;
    pair.run_until("the rest", |pair| pair.client.received.len() >= BYTES);
    assert!(pair.client.received == down);
}

#[test]
fn direct_tls_begins_with_bytes_that_were_read_before() {
    let authority = Authority::new("ours");
    let server = ServerTls::load(authority.server(&["db.example"])).expect("loads");
    let client = ClientTls::new(SslMode::Require, None, None).expect("loads");
    let mut pair = Pair::new(client.connect("db.example").expect("ok"), server.accept().expect("ok"));
    pair.client.step();
    // The whole ClientHello is read in two pieces, because the first byte shows that it is TLS. No readable event follows.
    let mut first = [0; 1];
    let mut hello = vec![0; 64 * 1024];
    wait_readable(&mut pair.server.stream);
    assert_eq!(pair.server.stream.read(&mut first).expect("readable"), 1);
    assert_eq!(first, [0x16]);
    let length = pair.server.stream.read(&mut hello).expect("readable");
    pair.server.session.feed(&first);
    pair.server.session.feed(&hello[..length]);
    pair.handshake();
    pair.exchange();
    assert_eq!(pair.server.session.alpn(), Some(ALPN_POSTGRESQL));
}

#[test]
fn close_notify_is_told_from_truncation() {
    let mut closed = pair();
    closed.client.to_send = b"bye".to_vec();
    closed.client.step();
    assert!(closed.client.session.close_notify(&mut closed.client.stream).expect("sent"));
    assert!(closed.client.session.close_notify(&mut closed.client.stream).expect("once is enough"));
    closed.run_until("the farewell", |pair| pair.server.eof);
    assert!(!closed.server.truncated);
    assert_eq!(closed.server.received, b"bye");
    // The server can still send.
    closed.server.to_send = b"bye too".to_vec();
    closed.run_until("the answer", |pair| pair.client.received == b"bye too");
    let after = closed.client.session.send(&mut closed.client.stream, b"more").expect_err("closed");
    assert_eq!(TlsError::of(&after), Some(&TlsError::AlreadyClosed));

    let mut truncated = pair();
    truncated.client.to_send = b"bye".to_vec();
    truncated.client.step();
    truncated.client.stream.shutdown(Shutdown::Write).expect("shut");
    truncated.run_until("the end", |pair| pair.server.eof);
    assert!(truncated.server.truncated);
    assert_eq!(truncated.server.received, b"bye");
}

#[test]
fn client_auth_decides_about_client_certificates() {
    let (ours, theirs) = (Authority::new("ours"), Authority::new("theirs"));
    let (good, bad) = (ours.client("good"), theirs.client("bad"));
    let connect = |auth: ClientAuth, identity: Option<&ClientIdentity>| -> End {
        let files = ServerTlsFiles {
            client_auth: auth,
            client_ca: Some(ours.path("root.crt")),
            ..ours.server(&["db"])
        };
        let server = ServerTls::load(files).expect("loads");
        let client = ClientTls::new(SslMode::Require, None, identity).expect("loads");
        let mut pair = Pair::new(client.connect("db").expect("ok"), server.accept().expect("ok"));
        pair.run_until("the server's verdict", |pair| {
            !pair.server.session.handshaking() || pair.server.error.is_some()
        });
        pair.server
    };
    assert!(connect(ClientAuth::Off, Some(&good)).session.peer_certificate().is_none());
    assert!(connect(ClientAuth::Optional, None).error.is_none());
    for auth in [ClientAuth::Optional, ClientAuth::Required] {
        let server = connect(auth, Some(&good));
        assert!(server.error.is_none(), "{:?}", server.error);
        let shown = server.session.peer_certificate().expect("a certificate").to_vec();
        assert_eq!(shown, CertificateDer::from_pem_file(&good.cert).expect("readable").as_ref());
        let server = connect(auth, Some(&bad));
        assert!(
            matches!(server.tls_error(), Some(TlsError::CertificateRefused { .. })),
            "{:?}",
            server.error
        );
    }
    let server = connect(ClientAuth::Required, None);
    assert!(matches!(server.tls_error(), Some(TlsError::CertificateRefused { .. })), "{:?}", server.error);
}

/// How many bytes wait in a session for its socket, read from its Debug text.
fn queued_bytes(end: &End) -> usize {
    let text = format!("{:?}", end.session);
    let number = text.split("outgoing: ").nth(1).and_then(|rest| rest.split(',').next());
    number.and_then(|number| number.parse().ok()).expect("Debug says how much waits")
}

/// Connects with rustls's own blocking client on another thread: it can be limited to TLS 1.2, and it keeps tickets.
fn blocking_client(
    server: &ServerTls,
    config: &Arc<ClientConfig>,
) -> (Option<HandshakeKind>, Result<String, std::io::Error>) {
    let mut listener =
        listen::tcp("127.0.0.1:0".parse().expect("an address"), 16, false).expect("a listener");
    let address = listener.local_addr().expect("its address");
    let config = Arc::clone(config);
    let client = thread::spawn(move || {
        let mut connection =
            ClientConnection::new(config, "db.example".try_into().expect("a name")).expect("ok");
        let mut socket = std::net::TcpStream::connect(address).expect("connected");
        let mut tls = rustls::Stream::new(&mut connection, &mut socket);
        let mut answer = [0; 4];
        let result = tls.write_all(b"ping").and_then(|()| tls.read_exact(&mut answer));
        let result = result.map(|()| String::from_utf8_lossy(&answer).into_owned());
        (connection.handshake_kind(), result)
    });
    let mut poll = Poll::new().expect("poll");
    let mut events = Events::with_capacity(8);
    poll.registry().register(&mut listener, Token(0), Interest::READABLE).expect("registered");
    let mut stream = loop {
        match listener.accept() {
            Ok((stream, _)) => break Stream::from(stream),
            Err(_) => poll.poll(&mut events, None).expect("poll"),
        }
    };
    poll.registry()
        .register(&mut stream, Token(1), Interest::READABLE | Interest::WRITABLE)
        .expect("registered");
    let mut session = server.accept().expect("ok");
    let mut received = Vec::new();
    loop {
        match session.receive(&mut stream, &mut received) {
            Err(_) => break,
            Ok(done) if done.eof => break,
            Ok(_) => {}
        }
        if received == b"ping" {
            received.clear();
            assert_eq!(session.send(&mut stream, b"pong").expect("sent"), 4);
        }
        poll.poll(&mut events, None).expect("poll");
    }
    drop(stream);
    client.join().expect("the client does not panic")
}

fn driver_config(authority: &Authority, versions: &[&'static SupportedProtocolVersion]) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(authority.path("root.crt")).expect("readable")).expect("a root");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(provider).with_protocol_versions(versions).expect("versions");
    Arc::new(builder.with_root_certificates(roots).with_no_client_auth())
}

#[test]
fn sessions_are_resumed_until_a_reload() {
    let authority = Authority::new("ours");
    let server = ServerTls::load(authority.server(&["db.example"])).expect("loads");
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let config = driver_config(&authority, &[version]);
        let kind = || {
            let (kind, answer) = blocking_client(&server, &config);
            assert_eq!(answer.expect("an answer"), "pong");
            kind
        };
        assert_eq!(kind(), Some(HandshakeKind::Full), "{version:?}");
        assert_eq!(kind(), Some(HandshakeKind::Resumed), "{version:?}");
        server.reload().expect("loads");
        assert_eq!(kind(), Some(HandshakeKind::Full), "{version:?}: tickets from before the reload are void");
    }
}

#[test]
fn min_protocol_sets_the_oldest_version() {
    let authority = Authority::new("ours");
    let files = ServerTlsFiles { min_protocol: MinProtocol::Tls13, ..authority.server(&["db.example"]) };
    let server = ServerTls::load(files).expect("loads");
    let (_, old) = blocking_client(&server, &driver_config(&authority, &[&rustls::version::TLS12]));
    assert!(old.is_err(), "TLS 1.2 is refused");
    let (_, new) = blocking_client(&server, &driver_config(&authority, &[&rustls::version::TLS13]));
    assert_eq!(new.expect("an answer"), "pong");
}
