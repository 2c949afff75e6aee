//! Certificates that are replaced while connections exist.

use std::fs;

use trunkline_net::tls::{ClientTls, ServerTls, SslMode, TlsFileError};

use crate::authority::Authority;
use crate::pair::Pair;

#[test]
fn new_sessions_get_the_new_certificate_and_old_sessions_continue() {
    let authority = Authority::new("ours");
    let server = ServerTls::load(authority.server(&["db.example"])).expect("loads");
    let client = ClientTls::new(SslMode::Require, None, None).expect("loads");
    let connect = || {
        let mut pair = Pair::new(client.connect("db.example").expect("ok"), server.accept().expect("ok"));
        pair.handshake();
        pair.exchange();
        pair
    };
    let shown =
        |pair: &Pair| pair.client.session.peer_certificate().map(<[u8]>::to_vec).expect("a certificate");
    let mut before = connect();
    assert_eq!(shown(&connect()), shown(&before), "the same certificate again");
    authority.server(&["db.example"]);
    server.reload().expect("the new files are good");
    let after = connect();
    assert_ne!(shown(&after), shown(&before));
    assert_ne!(after.server.session.channel_binding(), before.server.session.channel_binding());
    assert_eq!(after.server.session.channel_binding(), after.client.session.channel_binding());
    before.exchange();
}

#[test]
fn bad_new_files_leave_the_old_ones_in_use() {
    let authority = Authority::new("ours");
    let files = authority.server(&["db.example"]);
    let server = ServerTls::load(files.clone()).expect("loads");
    let other = authority.sign("other", |_| {});

    fs::copy(&other.key, &files.key).expect("copied");
    let error = server.reload().expect_err("the key of another certificate");
    assert!(matches!(error, TlsFileError::KeyMismatch { .. }), "{error}");
    assert!(error.to_string().contains("server.key") && error.to_string().contains("server.crt"), "{error}");

    fs::remove_file(&files.cert).expect("removed");
    let error = server.reload().expect_err("no certificate");
    assert!(error.to_string().contains("server.crt"), "{error}");

    let client = ClientTls::new(SslMode::VerifyFull, Some(&authority.roots()), None).expect("loads");
    let mut pair = Pair::new(client.connect("db.example").expect("ok"), server.accept().expect("ok"));
    pair.handshake();
    pair.exchange();
}
