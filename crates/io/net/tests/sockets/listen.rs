//! Listeners: the options of accepted connections, and the files of unix sockets.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::Path;

use tempfile::TempDir;
use trunkline_net::stream::{Peer, Stream};
use trunkline_net::{dial, listen};

use crate::wait::until;

fn loopback() -> SocketAddr {
    "127.0.0.1:0".parse().expect("an address")
}

#[test]
fn accepted_sockets_have_nodelay_from_their_listener() {
    let mut listener = listen::tcp(loopback(), 16, false).expect("a listener");
    let _client = dial::tcp(listener.local_addr().expect("its address")).expect("dialled");
    let (accepted, _) = until(&mut listener, |listener| listener.accept().ok());
    assert!(accepted.nodelay().expect("asked"));
}

#[test]
fn workers_share_a_port_by_reuseport_or_by_clone() {
    let first = listen::tcp(loopback(), 16, true).expect("a listener");
    let address = first.local_addr().expect("its address");
    let second = listen::tcp(address, 16, true).expect("another on the same port");
    assert_eq!(second.local_addr().expect("its address"), address);
    let error = listen::tcp(address, 16, false).expect_err("in use");
    assert_eq!(error.kind(), ErrorKind::AddrInUse);
    assert!(error.to_string().contains(&address.to_string()), "{error}");

    let mut clone =
        listen::clone_tcp(&listen::tcp(loopback(), 16, false).expect("a listener")).expect("a clone");
    let _client = dial::tcp(clone.local_addr().expect("its address")).expect("dialled");
    until(&mut clone, |clone| clone.accept().ok());
}

#[test]
fn both_families_can_have_the_same_port() {
    let Ok(six) = listen::tcp("[::]:0".parse().expect("an address"), 16, false) else {
        return; // A machine without IPv6.
    };
    let port = six.local_addr().expect("its address").port();
    listen::tcp(SocketAddr::from(([0, 0, 0, 0], port)), 16, false).expect("the other family is free");
}

#[test]
fn a_unix_socket_has_the_given_mode_and_reports_its_peer() {
    let dir = TempDir::new().expect("a folder");
    let path = dir.path().join(".s.PGSQL.6432");
    let (mut listener, file) = listen::unix(&path, 0o660, 16).expect("a listener");
    assert_eq!(file.path(), path);
    assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o660);
    let mut client = dial::unix(&path).expect("dialled");
    assert!(dial::finish_connect(&client).expect("connected"));
    let mut clone = listen::clone_unix(&listener).expect("a clone");
    let (accepted, _) = until(&mut clone, |clone| clone.accept().ok());
    assert_eq!(
        until(&mut listener, |listener| Some(listener.accept().err().map(|e| e.kind()))),
        Some(ErrorKind::WouldBlock)
    );
    let mut server = Stream::from(accepted);
    assert!(server.is_unix());
    let own = rustix::process::geteuid().as_raw();
    let pid = i32::try_from(std::process::id()).expect("a process id");
    assert_eq!(server.peer().expect("known"), Peer::Unix { uid: Some(own), pid: Some(pid) });
    client.write_all(b"hello").expect("written");
    let mut text = [0; 5];
    until(&mut server, |server| server.read_exact(&mut text).ok());
    assert_eq!(&text, b"hello");
}

#[test]
fn a_live_socket_is_refused_and_a_stale_one_replaced() {
    let dir = TempDir::new().expect("a folder");
    let path = dir.path().join("socket");
    let (listener, file) = listen::unix(&path, 0o777, 16).expect("a listener");
    let error = listen::unix(&path, 0o777, 16).expect_err("the first one still listens");
    assert_eq!(error.kind(), ErrorKind::AddrInUse);
    assert!(error.to_string().contains("socket.lock"), "{error}");
    dial::unix(&path).expect("the refused attempt has not changed the socket");
    drop((listener, file));
    assert!(!path.exists() && !dir.path().join("socket.lock").exists(), "both files are gone");

    // Another program's socket has no lock file, but it accepts connections.
    let stranger = std::os::unix::net::UnixListener::bind(&path).expect("bound");
    let error = listen::unix(&path, 0o777, 16).expect_err("somebody listens");
    assert_eq!(error.kind(), ErrorKind::AddrInUse);
    assert!(error.to_string().contains("another process listens"), "{error}");
    // The program ends: its socket's file stays, and a lock file may stay, too.
    drop(stranger);
    fs::write(dir.path().join("socket.lock"), b"").expect("written");
    assert!(path.exists());
    let (_listener, file) = listen::unix(&path, 0o777, 16).expect("nobody listens any more");
    dial::unix(&path).expect("the new one answers");
    // If another program has put its own socket there, the file is not removed.
    fs::remove_file(&path).expect("removed");
    let _stranger = std::os::unix::net::UnixListener::bind(&path).expect("bound");
    drop(file);
    assert!(path.exists());
}

#[test]
fn a_file_that_is_not_a_socket_is_not_replaced() {
    let dir = TempDir::new().expect("a folder");
    let path = dir.path().join("precious");
    fs::write(&path, b"data").expect("written");
    let error = listen::unix(&path, 0o777, 16).expect_err("a file");
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert_eq!(fs::read(&path).expect("still there"), b"data");
    assert!(!dir.path().join("precious.lock").exists(), "nothing is left behind");
    // A link to such a file is not replaced, either.
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(&path, &link).expect("linked");
    let error = listen::unix(&link, 0o777, 16).expect_err("a link");
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert!(!fs::symlink_metadata(&link).expect("still there").file_type().is_socket());

    let error = listen::unix(Path::new("/nowhere/at/all/socket"), 0o777, 16).expect_err("no folder");
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("/nowhere/at/all/socket"), "{error}");
    let long = dir.path().join("x".repeat(200));
    let error = listen::unix(&long, 0o777, 16).expect_err("too long");
    assert!(error.to_string().contains("xxx"), "{error}");
}
