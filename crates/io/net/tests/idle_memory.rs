//! The memory of an idle client's TLS session. The test has a binary of its own, because it counts all allocations of the
//! process.

mod tls_fixture {
    use std::path::{Path, PathBuf};

    pub(crate) fn fixture(file: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/certificates").join(file)
    }
}

use std::alloc::System;

use mio::net::UnixStream;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use tls_fixture::fixture;
use trunkline_net::stream::Stream;
use trunkline_net::tls::{
    ClientAuth, ClientTls, MinProtocol, ServerTls, ServerTlsFiles, SslMode, TlsSession,
};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Most memory of an idle session as server, after its handshake and some traffic. The test prints the measured value.
const IDLE_SERVER_SESSION_BYTES_MAX: usize = 4096;

fn handshake_and_exchange(
    client: &mut TlsSession,
    server: &mut TlsSession,
    ends: &mut (Stream, Stream),
    into: &mut Vec<u8>,
) {
    while client.handshaking() || server.handshaking() {
        client.flush(&mut ends.0).expect("flushed");
        server.receive(&mut ends.1, into).expect("received");
        client.receive(&mut ends.0, into).expect("received");
    }
    for _ in 0..3 {
        assert_eq!(client.send(&mut ends.0, &[1; 20_000]).expect("sent"), 20_000);
        while into.len() < 20_000 {
            server.receive(&mut ends.1, into).expect("received");
        }
        into.clear();
        assert_eq!(server.send(&mut ends.1, &[1; 20_000]).expect("sent"), 20_000);
        while into.len() < 20_000 {
            client.receive(&mut ends.0, into).expect("received");
        }
        into.clear();
    }
}

#[test]
fn an_idle_session_holds_no_buffer() {
    const SESSIONS: usize = 50;
    let server = ServerTls::load(ServerTlsFiles {
        cert: fixture("ecdsa-sha256.crt"),
        key: fixture("ecdsa.key"),
        client_ca: None,
        client_auth: ClientAuth::Off,
        min_protocol: MinProtocol::Tls12,
    })
    .expect("loads");
    let client = ClientTls::new(SslMode::Require, None, None).expect("loads");
    let mut into = Vec::with_capacity(128 * 1024);
    let mut ends: Vec<(Stream, Stream)> = (0..=SESSIONS)
        .map(|_| {
            let (near, far) = UnixStream::pair().expect("a pair");
            (near.into(), far.into())
        })
        .collect();
    let mut held: Vec<TlsSession> = Vec::with_capacity(SESSIONS);
    // The first session makes the allocations that happen once: the thread's buffers, and tables.
    let mut last = ends.pop().expect("one more");
    let (mut first_client, mut first_server) =
        (client.connect("localhost").expect("ok"), server.accept().expect("ok"));
    handshake_and_exchange(&mut first_client, &mut first_server, &mut last, &mut into);
    drop((first_client, first_server));
    let region = Region::new(ALLOCATOR);
    for ends in &mut ends {
        let mut near = client.connect("localhost").expect("ok");
        let mut far = server.accept().expect("ok");
        handshake_and_exchange(&mut near, &mut far, ends, &mut into);
        held.push(far);
    }
    let change = region.change();
    let heap = (change.bytes_allocated - change.bytes_deallocated) / SESSIONS;
    let whole = heap + size_of::<TlsSession>();
    println!("an idle server session: {whole} bytes, {} of them in place", size_of::<TlsSession>());
    assert!(whole <= IDLE_SERVER_SESSION_BYTES_MAX, "{whole} bytes");
    assert_eq!(held.len(), SESSIONS);
}
