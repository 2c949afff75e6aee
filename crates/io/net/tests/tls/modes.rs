//! libpq's sslmodes: which servers each mode accepts.

use trunkline_net::tls::{ClientTls, Roots, ServerTls, SslMode, TlsError, TlsFileError};

use crate::authority::{Authority, fixture, fixture_server};
use crate::pair::Pair;

/// Whether the client accepts the server. If it does not, the server must get the alert, too.
fn verdict(client: &ClientTls, server: &ServerTls, host: &str) -> Result<(), TlsError> {
    let mut pair = Pair::new(client.connect(host).expect("a session"), server.accept().expect("a session"));
    pair.handshake();
    if let Some(error) = pair.client.tls_error() {
        let error = error.clone();
        pair.run_until("the alert", |pair| pair.server.error.is_some() || pair.server.eof);
        assert!(
            matches!(pair.server.tls_error(), Some(TlsError::PeerRefused { .. })),
            "the alert arrives: {:?}",
            pair.server.error
        );
        return Err(error);
    }
    assert!(pair.client.error.is_none() && pair.server.error.is_none(), "no other fault");
    pair.exchange();
    Ok(())
}

fn refused(result: Result<(), TlsError>, because: &str) {
    match result {
        Err(TlsError::CertificateRefused { reason }) => assert!(reason.contains(because), "{reason}"),
        other => panic!("should refuse the certificate, {because}: {other:?}"),
    }
}

#[test]
fn without_roots_any_certificate_is_accepted() {
    let authority = Authority::new("some authority");
    let server = ServerTls::load(authority.server(&["elsewhere.example"])).expect("loads");
    for mode in [SslMode::Allow, SslMode::Prefer, SslMode::Require] {
        let client = ClientTls::new(mode, None, None).expect("no files needed");
        assert_eq!(verdict(&client, &server, "db.example"), Ok(()), "{mode}");
    }
}

#[test]
fn with_a_root_file_require_is_verify_ca() {
    let (ours, theirs) = (Authority::new("ours"), Authority::new("theirs"));
    let good = ServerTls::load(ours.server(&["elsewhere.example"])).expect("loads");
    let bad = ServerTls::load(theirs.server(&["db.example"])).expect("loads");
    for mode in [SslMode::Require, SslMode::VerifyCa] {
        let client = ClientTls::new(mode, Some(&ours.roots()), None).expect("loads");
        assert_eq!(verdict(&client, &good, "db.example"), Ok(()), "{mode} does not look at the name");
        refused(verdict(&client, &bad, "db.example"), "no certificate we trust");
    }
}

#[test]
fn verify_full_checks_chain_and_name() {
    let (ours, theirs) = (Authority::new("ours"), Authority::new("theirs"));
    let server = ServerTls::load(ours.server(&["db.example", "*.pool.example", "127.0.0.1"])).expect("loads");
    let client = ClientTls::new(SslMode::VerifyFull, Some(&ours.roots()), None).expect("loads");
    for host in ["db.example", "DB.example", "a.pool.example", "127.0.0.1"] {
        assert_eq!(verdict(&client, &server, host), Ok(()), "{host}");
    }
    for host in ["other.example", "a.b.pool.example", "pool.example", "127.0.0.2"] {
        refused(verdict(&client, &server, host), "another host");
    }
    let stranger = ServerTls::load(theirs.server(&["db.example"])).expect("loads");
    refused(verdict(&client, &stranger, "db.example"), "no certificate we trust");
}

#[test]
fn modes_that_check_the_chain_refuse_an_expired_certificate() {
    let authority = Authority::new("ours");
    let identity = authority.sign("server", |params| {
        params.subject_alt_names =
            rcgen::CertificateParams::new(vec!["db.example".to_owned()]).expect("a name").subject_alt_names;
        params.not_before = rcgen::date_time_ymd(2020, 1, 1);
        params.not_after = rcgen::date_time_ymd(2021, 1, 1);
    });
    let server =
        ServerTls::load(crate::authority::server_files(&identity.cert, &identity.key)).expect("loads");
    let client = ClientTls::new(SslMode::VerifyCa, Some(&authority.roots()), None).expect("loads");
    refused(verdict(&client, &server, "db.example"), "expired");
    let client = ClientTls::new(SslMode::Require, None, None).expect("loads");
    assert_eq!(verdict(&client, &server, "db.example"), Ok(()));
}

#[test]
fn the_common_name_counts_only_without_alternative_names() {
    let authority = Authority::new("ours");
    let identity = authority.sign("server", |params| {
        params.distinguished_name.push(rcgen::DnType::CommonName, "*.cn.example");
    });
    let server =
        ServerTls::load(crate::authority::server_files(&identity.cert, &identity.key)).expect("loads");
    let client = ClientTls::new(SslMode::VerifyFull, Some(&authority.roots()), None).expect("loads");
    assert_eq!(verdict(&client, &server, "db.cn.example"), Ok(()));
    refused(verdict(&client, &server, "a.b.cn.example"), "another host");

    let identity = authority.sign("both", |params| {
        params.distinguished_name.push(rcgen::DnType::CommonName, "cn.example");
        params.subject_alt_names =
            rcgen::CertificateParams::new(vec!["san.example".to_owned()]).expect("a name").subject_alt_names;
    });
    let server =
        ServerTls::load(crate::authority::server_files(&identity.cert, &identity.key)).expect("loads");
    assert_eq!(verdict(&client, &server, "san.example"), Ok(()));
    refused(verdict(&client, &server, "cn.example"), "another host");
}

/// The certificate is of version 1, has only a common name, and is signed by the root directly. rustls's own verifier
/// refuses it.
#[test]
fn certificates_made_as_in_the_postgresql_manual_are_accepted() {
    let server = fixture_server("manual-server.crt", "rsa.key");
    let root = Roots::File(fixture("manual-root.crt"));
    for mode in [SslMode::Require, SslMode::VerifyCa, SslMode::VerifyFull] {
        let client = ClientTls::new(mode, Some(&root), None).expect("loads");
        assert_eq!(verdict(&client, &server, "localhost"), Ok(()), "{mode}");
    }
    let client = ClientTls::new(SslMode::VerifyFull, Some(&root), None).expect("loads");
    refused(verdict(&client, &server, "db.example"), "another host");
    let stranger = Authority::new("stranger");
    let client = ClientTls::new(SslMode::VerifyCa, Some(&stranger.roots()), None).expect("loads");
    refused(verdict(&client, &server, "localhost"), "no certificate we trust");
}

#[test]
fn a_root_that_is_not_an_authority_cannot_sign() {
    let server = fixture_server("no-authority-server.crt", "rsa.key");
    let root = Roots::File(fixture("no-authority.crt"));
    let client = ClientTls::new(SslMode::VerifyCa, Some(&root), None).expect("loads");
    refused(verdict(&client, &server, "localhost"), "no certificate we trust");
}

#[test]
fn a_self_signed_certificate_is_accepted_only_as_its_own_root() {
    let server = fixture_server("rsa-sha256.crt", "rsa.key");
    let own = Roots::File(fixture("rsa-sha256.crt"));
    let client = ClientTls::new(SslMode::VerifyFull, Some(&own), None).expect("loads");
    assert_eq!(verdict(&client, &server, "localhost"), Ok(()));
    // The same subject with another key: the issuer's name matches, but the signature does not.
    let client = ClientTls::new(SslMode::VerifyFull, Some(&Roots::File(fixture("ecdsa-sha256.crt"))), None);
    refused(verdict(&client.expect("loads"), &server, "localhost"), "no certificate we trust");
}

#[test]
fn a_self_signed_certificate_expires_too() {
    let authority = Authority::new("a folder's owner");
    let key = rcgen::KeyPair::generate().expect("a key");
    let mut params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let server = |params: &rcgen::CertificateParams| {
        let (cert, private) = (authority.path("self.crt"), authority.path("self.key"));
        std::fs::write(&cert, params.self_signed(&key).expect("a certificate").pem()).expect("written");
        std::fs::write(&private, key.serialize_pem()).expect("written");
        ServerTls::load(crate::authority::server_files(&cert, &private)).expect("loads")
    };
    let client = || {
        let root = Roots::File(authority.path("self.crt"));
        ClientTls::new(SslMode::VerifyFull, Some(&root), None).expect("loads")
    };
    let good = server(&params);
    assert_eq!(verdict(&client(), &good, "localhost"), Ok(()));
    params.not_after = rcgen::date_time_ymd(2021, 1, 1);
    let expired = server(&params);
    refused(verdict(&client(), &expired, "localhost"), "expired");
    params.not_after = rcgen::date_time_ymd(4000, 1, 1);
    params.not_before = rcgen::date_time_ymd(3000, 1, 1);
    let early = server(&params);
    refused(verdict(&client(), &early, "localhost"), "not valid yet");
}

#[test]
fn contradicting_options_are_refused() {
    for mode in [SslMode::VerifyCa, SslMode::VerifyFull] {
        let error = ClientTls::new(mode, None, None).expect_err("needs roots");
        assert!(matches!(error, TlsFileError::RootMissing { .. }), "{error}");
    }
    for mode in [SslMode::Prefer, SslMode::Require, SslMode::VerifyCa] {
        let error = ClientTls::new(mode, Some(&Roots::System), None).expect_err("too weak");
        assert!(matches!(error, TlsFileError::SystemRootsNeedVerifyFull { .. }), "{error}");
    }
}

#[test]
fn an_invalid_host_name_is_an_error_only_if_the_mode_checks_names() {
    let authority = Authority::new("ours");
    let odd = "not a host name";
    let full = ClientTls::new(SslMode::VerifyFull, Some(&authority.roots()), None).expect("loads");
    assert!(matches!(full.connect(odd), Err(TlsError::BadServerName { .. })));
    let require = ClientTls::new(SslMode::Require, None, None).expect("loads");
    let server = ServerTls::load(authority.server(&["db.example"])).expect("loads");
    assert_eq!(verdict(&require, &server, odd), Ok(()));
}

#[test]
fn modes_have_the_names_of_libpq() {
    for mode in SslMode::ALL {
        assert_eq!(mode.to_string().parse(), Ok(mode));
    }
    let error = "verify_full".parse::<SslMode>().expect_err("underscore");
    let text = error.to_string();
    assert!(
        text.contains("verify_full")
            && text.contains("disable, allow, prefer, require, verify-ca, verify-full")
    );
}

#[test]
fn the_authorities_of_the_system_do_not_accept_the_tests_certificate() {
    let client = match ClientTls::new(SslMode::VerifyFull, Some(&Roots::System), None) {
        Ok(client) => client,
        // A minimal container has no authorities. Then there must be an error that says so.
        Err(error) => return assert!(matches!(error, TlsFileError::SystemRoots { .. }), "{error}"),
    };
    let authority = Authority::new("ours");
    let server = ServerTls::load(authority.server(&["db.example"])).expect("loads");
    refused(verdict(&client, &server, "db.example"), "no certificate we trust");
}
