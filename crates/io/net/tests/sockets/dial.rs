//! Connecting: success, failure, and how a host is distinguished from a directory.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;
use trunkline_net::dial::{self, ServerAddress};
use trunkline_net::stream::{Keepalive, Peer, Stream};

use crate::wait::until;

#[test]
fn a_tcp_connection_is_established_and_carries_bytes() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
    let address = listener.local_addr().expect("its address");
    let mut stream = dial::tcp(address).expect("dialled");
    until(&mut stream, |stream| dial::finish_connect(stream).expect("no error").then_some(()));
    assert_eq!(stream.peer().expect("connected"), Peer::Tcp(address));
    let Stream::Tcp(tcp) = &stream else { panic!("a TCP stream") };
    assert!(tcp.nodelay().expect("asked"));
    let (mut other, _) = listener.accept().expect("accepted");
    let pieces = [std::io::IoSlice::new(b"one "), std::io::IoSlice::new(b"two")];
    assert_eq!(stream.write_vectored(&pieces).expect("written"), 7);
    stream.shutdown(Shutdown::Write).expect("shut");
    let mut text = String::new();
    other.read_to_string(&mut text).expect("read");
    assert_eq!(text, "one two");
    drop(other);
    let mut rest = Vec::new();
    until(&mut stream, |stream| stream.read_to_end(&mut rest).ok());
    stream.shutdown(Shutdown::Both).expect("no error after the peer has gone");
}

#[test]
fn a_refused_connection_says_so() {
    // Bound but not listening: nobody else can get the port, and connects are refused.
    let holder = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).expect("a socket");
    holder.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).expect("bound");
    let address = holder.local_addr().expect("its address").as_socket().expect("an address and a port");
    let mut stream = match dial::tcp(address) {
        Ok(stream) => stream,
        Err(error) => return assert_eq!(error.kind(), ErrorKind::ConnectionRefused),
    };
    let error = until(&mut stream, |stream| match dial::finish_connect(stream) {
        Ok(up) => {
            assert!(!up, "nobody listens");
            None
        }
        Err(error) => Some(error),
    });
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
}

#[test]
fn keepalive_is_set_on_tcp_and_ignored_on_unix_sockets() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
    let mut stream = dial::tcp(listener.local_addr().expect("its address")).expect("dialled");
    until(&mut stream, |stream| dial::finish_connect(stream).expect("no error").then_some(()));
    let keepalive = Keepalive {
        idle: Some(Duration::from_secs(61)),
        interval: Some(Duration::from_secs(7)),
        probes_max: Some(3),
        user_timeout: Some(Duration::from_secs(20)),
    };
    stream.set_keepalive(keepalive).expect("set");
    let Stream::Tcp(tcp) = &stream else { panic!("a TCP stream") };
    let socket = socket2::SockRef::from(tcp);
    assert!(socket.keepalive().expect("asked"));
    assert_eq!(socket.tcp_keepalive_time().expect("asked"), Duration::from_secs(61));
    assert_eq!(socket.tcp_keepalive_interval().expect("asked"), Duration::from_secs(7));
    assert_eq!(socket.tcp_keepalive_retries().expect("asked"), 3);
    #[cfg(target_os = "linux")]
    assert_eq!(socket.tcp_user_timeout().expect("asked"), Some(Duration::from_secs(20)));

    let (unix, _other) = mio::net::UnixStream::pair().expect("a pair");
    Stream::from(unix).set_keepalive(keepalive).expect("ignored");
}

#[test]
fn a_missing_unix_socket_and_one_without_a_listener_are_errors() {
    let dir = TempDir::new().expect("a folder");
    let path = dir.path().join("socket");
    assert_eq!(dial::unix(&path).expect_err("absent").kind(), ErrorKind::NotFound);
    drop(std::os::unix::net::UnixListener::bind(&path).expect("bound"));
    assert_eq!(dial::unix(&path).expect_err("dead").kind(), ErrorKind::ConnectionRefused);
}

#[cfg(target_os = "linux")]
#[test]
fn a_path_with_an_at_sign_is_an_abstract_socket() {
    use std::os::linux::net::SocketAddrExt;
    let name = format!("trunkline-test-{}/.s.PGSQL.5432", std::process::id());
    let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).expect("an address");
    let listener = std::os::unix::net::UnixListener::bind_addr(&address).expect("bound");
    let server = ServerAddress::new(&format!("@trunkline-test-{}", std::process::id()), 5432);
    let mut stream = dial::unix(&server.socket_path().expect("a unix socket")).expect("dialled");
    let (mut other, _) = listener.accept().expect("accepted");
    stream.write_all(b"hi").expect("written");
    let mut text = [0; 2];
    other.read_exact(&mut text).expect("read");
    assert_eq!(&text, b"hi");
}

#[test]
fn hosts_and_directories_are_distinguished_as_libpq_does() {
    let tcp = |host: &str, port| ServerAddress::Tcp { host: host.into(), port };
    assert_eq!(ServerAddress::new("db.example", 5432), tcp("db.example", 5432));
    assert_eq!(ServerAddress::new("[::1]", 5432), tcp("::1", 5432));
    assert_eq!(ServerAddress::new("::1", 5432).to_string(), "[::1]:5432");
    assert_eq!(ServerAddress::new("db.example", 1).to_string(), "db.example:1");
    let unix = ServerAddress::new("/run/postgresql", 5433);
    assert_eq!(unix, ServerAddress::Unix { dir: PathBuf::from("/run/postgresql"), port: 5433 });
    assert_eq!(unix.socket_path().as_deref(), Some(Path::new("/run/postgresql/.s.PGSQL.5433")));
    assert_eq!(unix.to_string(), "/run/postgresql/.s.PGSQL.5433");
    assert_eq!(ServerAddress::new("db.example", 1).socket_path(), None);
    assert_eq!(unix.port(), 5433);
}
