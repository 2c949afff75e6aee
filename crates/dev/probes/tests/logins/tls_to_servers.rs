//! TLS between the proxy and servers, with libpq's meanings of sslmode.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};

use anyhow::{Result, ensure};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ServerConnection, StreamOwned};
use trunkline_probes::{Setup, Stage, login, sqlstate, try_login};
use trunkline_testkit::cluster::PASSWORD;
use trunkline_testkit::raw::{read_frame, ssl_request};
use trunkline_testkit::{Proxy, RawServer};

use crate::certificates::{Certificate, client, dial};
use crate::right;

trunkline_probes::probes! {
    sslmode_require, sslmode_prefer_allow_and_disable, sslmode_verify_ca, sslmode_verify_full_with_the_right_host,
    sslmode_verify_full_with_the_wrong_host, a_server_without_tls, bytes_after_the_servers_answer_to_an_ssl_request,
    scram_sha_256_plus_to_a_tls_server, a_server_certificate_trusted_after_a_reload,
}

/// An address of this machine that is in no server's certificate.
const UNNAMED_HOST: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// Logs in through the proxy, and asks the server whether its connection is encrypted.
fn is_encrypted(proxy: &Proxy) -> bool {
    let sql = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";
    login(proxy, "app").sql(sql).expect("rows") == ["t"]
}

fn mode(stage: &Stage, mode: &str) -> Setup {
    stage.setup().set("tls.server.sslmode", mode)
}

/// Asserts that the proxy cannot connect to the server, with an error that names TLS or the certificate.
fn assert_refused(proxy: &Proxy) {
    let error = try_login(proxy, "app", PASSWORD).expect_err("no server connection can be opened");
    assert_eq!(sqlstate(&error), "08006", "{error:#}");
    let text = error.to_string();
    assert!(text.contains("TLS") || text.contains("certificate"), "{text}");
}

fn sslmode_require(stage: &Stage) {
    assert!(is_encrypted(&mode(stage, "require").start()));
    // The setting of one database.
    assert!(is_encrypted(&stage.setup().set("databases.app.sslmode", "require").start()));
}

fn sslmode_prefer_allow_and_disable(stage: &Stage) {
    assert!(is_encrypted(&mode(stage, "prefer").start()));
    assert!(!is_encrypted(&mode(stage, "allow").start()));
    assert!(!is_encrypted(&mode(stage, "disable").start()));
    let socket = stage.setup().set("databases.app.host", stage.cluster().socket_folder());
    assert!(!is_encrypted(&socket.set("tls.server.sslmode", "require").start()), "no TLS over a unix socket");
}

fn sslmode_verify_ca(stage: &Stage) {
    let other = Certificate::new();
    let root = stage.cluster().certificate();
    assert!(is_encrypted(&mode(stage, "verify-ca").set("tls.server.root", root).start()));
    assert_refused(&mode(stage, "verify-ca").set("tls.server.root", other.cert().as_path()).start());
    // The name in the certificate does not matter.
    let relay = relay_at_unnamed_host(stage.cluster().address());
    assert!(is_encrypted(&mode(stage, "verify-ca").set("tls.server.root", root).server(relay).start()));
}

fn sslmode_verify_full_with_the_right_host(stage: &Stage) {
    let root = stage.cluster().certificate();
    for host in ["127.0.0.1", "localhost"] {
        let setup = mode(stage, "verify-full").set("tls.server.root", root).set("databases.app.host", host);
        assert!(is_encrypted(&setup.start()), "{host}");
    }
    let other = Certificate::new();
    assert_refused(&mode(stage, "verify-full").set("tls.server.root", other.cert().as_path()).start());
}

fn sslmode_verify_full_with_the_wrong_host(stage: &Stage) {
    let relay = relay_at_unnamed_host(stage.cluster().address());
    let root = stage.cluster().certificate();
    assert_refused(&mode(stage, "verify-full").set("tls.server.root", root).server(relay).start());
    assert!(is_encrypted(&mode(stage, "require").server(relay).start()));
}

fn a_server_without_tls(stage: &Stage) {
    // The server answers N.
    let fake = || {
        RawServer::start(|peer| {
            peer.handshake()?;
            while peer.frame().is_ok() {
                peer.answer("in the clear")?;
            }
            Ok(())
        })
        .expect("a server")
    };
    for (mode_name, open) in [("prefer", true), ("require", false), ("verify-full", false)] {
        let fake = fake();
        let root = stage.cluster().certificate();
        let proxy = mode(stage, mode_name).set("tls.server.root", root).server(fake.address()).start();
        if open {
            assert_eq!(login(&proxy, "app").sql("select").expect("rows"), ["in the clear"]);
        } else {
            assert_refused(&proxy);
        }
    }
}

/// An attacker in the middle sends bytes before TLS begins (CVE-2021-23222), or an error for the proxy to show (CVE-2024-10977).
fn bytes_after_the_servers_answer_to_an_ssl_request(stage: &Stage) {
    let ready = b"SR\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";
    for answer in [&ready[..], b"S\x15", b"ESFATAL\0C28000\0Mcall this number\0\0", b"X", b"N\x01"] {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let address = listener.local_addr().expect("bound");
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let mut request = [0; 8];
                if stream.read_exact(&mut request).is_ok() && stream.write_all(answer).is_ok() {
                    // Waits until the proxy closes.
                    let _ = stream.read_to_end(&mut Vec::new());
                }
            }
        });
        let proxy = mode(stage, "require").server(address).start();
        let error = try_login(&proxy, "app", PASSWORD).expect_err("not a word of it is believed");
        assert_eq!(sqlstate(&error), "08006", "{error:#}");
        assert!(!error.to_string().contains("call this number"), "{error:#}");
    }
}

/// A relay in the middle that has its own certificate can pass everything on except the proof, because the proof is bound to the
/// certificate that the proxy has seen. If the server has no TLS, there is no channel to bind to.
fn scram_sha_256_plus_to_a_tls_server(stage: &Stage) {
    let server = stage.cluster().address();
    let root = CertificateDer::from_pem_file(stage.cluster().certificate()).expect("a certificate");
    let bound = middle(&Certificate::new(), server, Some(root));
    let proxy = mode(stage, "require").server(bound).start();
    let error = try_login(&proxy, "app", PASSWORD).expect_err("the proof fits another certificate");
    assert_eq!(sqlstate(&error), "28000", "{error:#}");
    let unbound = middle(&Certificate::new(), server, None);
    login(&mode(stage, "require").server(unbound).start(), "app");
    right(&mode(stage, "require").start(), "app", PASSWORD);
}

/// A relay with its own TLS on the proxy's side. If `root` is given, it also has TLS to the server. It passes only a login on.
fn middle(own: &Certificate, server: SocketAddr, root: Option<CertificateDer<'static>>) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = listener.local_addr().expect("bound");
    let config = own.server_config();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut request = [0; 8];
            if stream.read_exact(&mut request).is_err() || stream.write_all(b"S").is_err() {
                continue;
            }
            let Ok(connection) = ServerConnection::new(std::sync::Arc::clone(&config)) else { return };
            let mut proxy = StreamOwned::new(connection, stream);
            let mut plain = dial(server);
            // One of the tests expects that the login fails.
            let _ = match &root {
                None => carry_login(&mut proxy, &mut plain),
                Some(root) => {
                    let mut answer = [0];
                    let asked = plain.write_all(&ssl_request()).and_then(|()| plain.read_exact(&mut answer));
                    asked
                        .map_err(Into::into)
                        .and_then(|()| carry_login(&mut proxy, &mut client(root, plain, &[])))
                }
            };
        }
    });
    address
}

/// Passes on the start-up packet, then each message of the server and the proxy's answer if the message needs one.
fn carry_login(proxy: &mut (impl Read + Write), server: &mut (impl Read + Write)) -> Result<()> {
    let mut length = [0; 4];
    proxy.read_exact(&mut length)?;
    let bytes = usize::try_from(u32::from_be_bytes(length))?;
    ensure!((8..10_000).contains(&bytes), "a start-up packet of {bytes} bytes");
    let mut rest = vec![0; bytes - 4];
    proxy.read_exact(&mut rest)?;
    server.write_all(&[&length[..], &rest].concat())?;
    loop {
        let frame = read_frame(server)?;
        proxy.write_all(&frame.to_bytes())?;
        proxy.flush()?;
        let code = frame.body.first_chunk::<4>().map(|code| u32::from_be_bytes(*code));
        if frame.tag == b'R' && matches!(code, Some(10 | 11)) {
            server.write_all(&read_frame(proxy)?.to_bytes())?;
            server.flush()?;
        }
        if matches!(frame.tag, b'E' | b'Z') {
            // Until the proxy closes.
            let _ = read_frame(proxy);
            return Ok(());
        }
    }
}

/// A relay at an address that is not in the server's certificate.
fn relay_at_unnamed_host(server: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind((UNNAMED_HOST, 0)).expect("all of 127.0.0.0/8 is this machine");
    let address = listener.local_addr().expect("bound");
    std::thread::spawn(move || {
        for from in listener.incoming() {
            let (Ok(from), Ok(to)) = (from, TcpStream::connect(server)) else { return };
            for (mut from, mut to) in [(from.try_clone(), to.try_clone()), (Ok(to), Ok(from))]
                .into_iter()
                .filter_map(|(from, to)| Some((from.ok()?, to.ok()?)))
            {
                std::thread::spawn(move || {
                    let _ = std::io::copy(&mut from, &mut to);
                    let _ = to.shutdown(std::net::Shutdown::Both);
                });
            }
        }
    });
    address
}

fn a_server_certificate_trusted_after_a_reload(stage: &Stage) {
    let root = tempfile::NamedTempFile::new().expect("a file");
    std::fs::copy(Certificate::new().cert(), root.path()).expect("copied");
    let setup = mode(stage, "verify-full")
        .set("tls.server.root", root.path())
        .set("timeouts.server_login_retry", "1ms")
        .set("timeouts.server_login_retry_max", "1ms");
    let proxy = setup.start();
    assert_refused(&proxy);
    std::fs::copy(stage.cluster().certificate(), root.path()).expect("copied");
    proxy.reload(&setup.text()).expect("reloaded");
    stage.eventually("the server is trusted", || {
        try_login(&proxy, "app", PASSWORD).map(drop).map_err(|error| format!("{error:#}"))
    });
    assert!(is_encrypted(&proxy));
}
