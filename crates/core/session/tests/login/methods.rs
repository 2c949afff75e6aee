//! Tests every method with every form of stored secret and every credential, with the bytes cut at every position.

use std::sync::Arc;

use trunkline_session::authentication::md5::hash_password;
use trunkline_session::authentication::scram::ScramError;
use trunkline_session::authentication::{Password, Secret};
use trunkline_session::backend::{Challenge, LoginFailure, TlsOffer};
use trunkline_session::frontend::{Credential, LoginError, Misbehaviour, TlsWish};
use trunkline_wire::startup::ProtocolVersion;

use crate::pair::{Failed, LoggedIn, PROCESS_ID, Pair, SECRET_KEY, settings};

const PASSWORD: &str = "s\u{e9}same, \u{2168}";

fn password(text: &str) -> Credential {
    Credential::Password { password: Password::new(text), cached: None }
}

fn plain() -> Secret {
    Secret::Plain(Password::new(PASSWORD))
}

fn md5() -> Secret {
    Secret::Md5(hash_password(PASSWORD.as_bytes(), b"alice"))
}

fn scram() -> Secret {
    Secret::Scram(settings().scram_keys("someone", PASSWORD.as_bytes()).to_secret())
}

/// Every combination that must succeed without TLS.
fn pairs() -> Vec<Pair> {
    let mut pairs = vec![
        Pair::new(Challenge::Trust, None, Credential::None),
        Pair::new(Challenge::Md5, Some(plain()), password(PASSWORD)),
        Pair::new(Challenge::Md5, Some(md5()), password(PASSWORD)),
        Pair::new(Challenge::Md5, Some(md5()), Credential::Md5(hash_password(PASSWORD.as_bytes(), b"alice"))),
        Pair::new(Challenge::Md5, Some(scram()), password(PASSWORD)),
        Pair::new(Challenge::Scram, Some(plain()), password(PASSWORD)),
        Pair::new(Challenge::Scram, Some(scram()), password(PASSWORD)),
    ];
    for stored in [plain(), md5(), scram()] {
        let mut pair = Pair::new(Challenge::Cleartext, Some(stored), password(PASSWORD));
        pair.settings.cleartext_without_tls = true;
        pair.login.cleartext_without_tls = true;
        pairs.push(pair);
    }
    pairs
}

fn check(logged_in: &LoggedIn, pair: &Pair) {
    assert_eq!(logged_in.startup.user, "alice");
    assert_eq!(logged_in.startup.database, "shop");
    assert_eq!(logged_in.encrypted, pair.login.tls != TlsWish::Never);
    let ready = &logged_in.ready;
    assert_eq!((ready.process_id, ready.secret_key.as_slice()), (PROCESS_ID, &SECRET_KEY[..]));
    assert_eq!(ready.parameter("Server_Version"), Some("18.0"));
    assert_eq!(ready.parameters.len(), 2);
}

#[test]
fn every_method_works_with_bytes_cut_anywhere() {
    for pair in pairs().into_iter().chain(pairs().into_iter().map(Pair::over_tls)) {
        let mut longest = 0;
        let whole = pair.run_in_pieces(&mut |place| {
            longest = longest.max(place);
            false
        });
        check(&whole.expect("a login"), &pair);
        for cut in 1..=longest {
            check(&pair.run_in_pieces(&mut |place| place == cut).expect("a login in two pieces"), &pair);
        }
        check(&pair.run_in_pieces(&mut |_| true).expect("a login byte by byte"), &pair);
    }
}

#[test]
fn tls_is_used_as_both_sides_allow() {
    use TlsWish::{Direct, Never, Prefer, Require};
    for (offer, wish, encrypted) in [
        (TlsOffer::Disabled, Never, false),
        (TlsOffer::Disabled, Prefer, false),
        (TlsOffer::Allowed, Never, false),
        (TlsOffer::Allowed, Prefer, true),
        (TlsOffer::Allowed, Require, true),
        (TlsOffer::Allowed, Direct, true),
        (TlsOffer::Required, Prefer, true),
        (TlsOffer::Required, Direct, true),
    ] {
        let mut pair = Pair::new(Challenge::Trust, None, Credential::None);
        (pair.settings.tls, pair.login.tls) = (offer, wish);
        assert_eq!(pair.run().expect("a login").encrypted, encrypted, "{offer:?} {wish:?}");
    }
    let refused = |offer, wish| {
        let mut pair = Pair::new(Challenge::Trust, None, Credential::None);
        (pair.settings.tls, pair.login.tls) = (offer, wish);
        pair.run().expect_err("no login")
    };
    assert_eq!(refused(TlsOffer::Disabled, Require).client, Some(LoginError::NoTls));
    let failed = refused(TlsOffer::Required, Never);
    assert_eq!(failed.server.expect("refused").failure, LoginFailure::TlsRequired);
    assert!(matches!(failed.client, Some(LoginError::Refused(_))));
    assert_eq!(
        refused(TlsOffer::Disabled, Direct).server.expect("refused").failure,
        LoginFailure::TlsNotOffered
    );
}

fn assert_wrong_password(failed: Failed) {
    let failure = failed.server.expect("the server refused").failure;
    assert_eq!(failure, LoginFailure::WrongPassword { user: String::from("alice") });
    let Some(LoginError::Refused(refusal)) = failed.client else { panic!("the client was not told") };
    assert_eq!(refusal.code().map(|code| *code.as_bytes()), Some(*b"28P01"));
    assert_eq!(refusal.severity(), "FATAL");
    assert_eq!(refusal.message(), "password authentication failed for user \"alice\"");
}

#[test]
fn wrong_passwords_and_unknown_users_get_the_same_error() {
    for challenge in [Challenge::Cleartext, Challenge::Md5, Challenge::Scram] {
        for stored in [None, Some(plain()), Some(md5()), Some(scram())] {
            for wrong in ["sesame", "md5"] {
                let pair = Pair::new(challenge, stored.clone(), password(wrong)).over_tls();
                assert_wrong_password(pair.run().expect_err("wrong"));
            }
        }
    }
}

#[test]
fn scram_fails_with_an_md5_secret() {
    let pair = Pair::new(Challenge::Scram, Some(md5()), password(PASSWORD));
    assert_wrong_password(pair.run().expect_err("impossible"));
}

#[test]
fn an_empty_stored_password_lets_nobody_in() {
    for challenge in [Challenge::Cleartext, Challenge::Scram] {
        let stored = Secret::Plain(Password::new(""));
        let pair = Pair::new(challenge, Some(stored), password("")).over_tls();
        assert_wrong_password(pair.run().expect_err("empty"));
    }
}

/// A client has logged in to us by SCRAM. With its keys we log in to a server, although we do not know the password.
#[test]
fn keys_from_a_clients_login_log_in_to_a_server() {
    let verified =
        Pair::new(Challenge::Scram, Some(scram()), password(PASSWORD)).run().expect("a login").verified;
    let keys = Arc::new(verified.scram_keys.expect("keys"));
    let credential = || Credential::ScramKeys(Arc::clone(&keys));
    let through = Pair::new(Challenge::Scram, Some(scram()), credential());
    check(&through.run().expect("a pass-through"), &through);
    let bound = Pair::new(Challenge::Scram, Some(scram()), credential()).over_tls();
    check(&bound.run().expect("a bound pass-through"), &bound);

    let other_salt = Secret::Scram(settings().scram_keys("another", PASSWORD.as_bytes()).to_secret());
    let failed = Pair::new(Challenge::Scram, Some(other_salt), credential()).run().expect_err("another salt");
    assert_eq!(failed.client, Some(LoginError::Scram(ScramError::KeysDoNotFit)));
}

#[test]
fn a_clear_text_password_checked_against_scram_gives_keys() {
    let pair = Pair::new(Challenge::Cleartext, Some(scram()), password(PASSWORD)).over_tls();
    let verified = pair.run().expect("a login").verified;
    assert!(verified.password.is_some_and(|password| password.matches(PASSWORD.as_bytes())));
    let keys = Credential::ScramKeys(Arc::new(verified.scram_keys.expect("keys")));
    assert!(Pair::new(Challenge::Scram, Some(scram()), keys).run().is_ok());
}

#[test]
fn keys_of_one_login_are_used_for_the_next() {
    let ready = Pair::new(Challenge::Scram, Some(scram()), password(PASSWORD)).run().expect("a login").ready;
    let cached = ready.scram_keys;
    assert!(cached.is_some());
    // The password is wrong, so the login can only succeed with the cached keys.
    let credential = Credential::Password { password: Password::new("not used"), cached };
    assert!(Pair::new(Challenge::Scram, Some(scram()), credential).run().is_ok());
}

#[test]
fn channel_binding_detects_somebody_in_between() {
    let mut pair = Pair::new(Challenge::Scram, Some(scram()), password(PASSWORD)).over_tls();
    pair.client_binding = Some(b"hash of another certificate".to_vec());
    let failure = pair.run().expect_err("tampered with").server.expect("noticed").failure;
    assert_eq!(failure, LoginFailure::Scram(ScramError::BindingMismatch));
    // A server without channel binding data offers no binding: plain SCRAM is used, with flag y.
    pair.server_binding = None;
    assert!(pair.run().is_ok());
    // A client without the data uses plain SCRAM too, with flag n.
    (pair.server_binding, pair.client_binding) = (pair.client_binding.take(), None);
    assert!(pair.run().is_ok());
}

#[test]
fn clear_text_needs_tls_on_both_sides() {
    let mut pair = Pair::new(Challenge::Cleartext, Some(plain()), password(PASSWORD));
    let failed = pair.run().expect_err("refused");
    assert_eq!(failed.server.expect("refused").failure, LoginFailure::CleartextNeedsTls);
    pair.settings.cleartext_without_tls = true;
    assert_eq!(pair.run().expect_err("refused").client, Some(LoginError::CleartextNeedsTls));
}

#[test]
fn the_error_names_an_unfit_credential() {
    let keys = Arc::new(settings().scram_keys("someone", b"x"));
    let hash = || Credential::Md5(hash_password(b"x", b"alice"));
    let cases = [
        (Challenge::Scram, Credential::None, "nothing"),
        (Challenge::Scram, hash(), "the md5 form of a password"),
        (Challenge::Md5, Credential::ScramKeys(Arc::clone(&keys)), "SCRAM keys"),
        (Challenge::Cleartext, hash(), "the md5 form of a password"),
        (Challenge::Cleartext, Credential::ScramKeys(keys), "SCRAM keys"),
    ];
    for (challenge, credential, expected) in cases {
        let stored = if challenge == Challenge::Md5 { md5() } else { scram() };
        let failed = Pair::new(challenge, Some(stored), credential).over_tls().run().expect_err("unfit");
        let Some(LoginError::CredentialUnfit { configured, .. }) = failed.client else {
            panic!("{failed:?}")
        };
        assert_eq!(configured, expected);
    }
}

#[test]
fn protocol_versions_are_negotiated() {
    let version = |minor| ProtocolVersion { major: 3, minor };
    for (asked, spoken) in [(0, 0), (2, 2), (3, 2), (9999, 2)] {
        let mut pair = Pair::new(Challenge::Scram, Some(scram()), password(PASSWORD));
        pair.login.protocol = version(asked);
        let logged_in = pair.run().expect("a login");
        assert_eq!(logged_in.startup.version, version(spoken), "server, {asked}");
        assert_eq!(logged_in.ready.version, version(spoken), "client, {asked}");
    }
}

#[test]
fn declined_options_that_were_not_sent_are_an_error() {
    let mut pair = Pair::new(Challenge::Trust, None, Credential::None);
    pair.login.parameters.push((String::from("_pq_.future"), String::from("1")));
    let failed = pair.run().expect_err("declined");
    assert_eq!(failed.client, Some(LoginError::ServerMisbehaved(Misbehaviour::NegotiatedOptions)));
}

#[test]
fn a_zero_byte_is_never_sent() {
    let mut pair = Pair::new(Challenge::Trust, None, Credential::None);
    pair.login.database = String::from("shop\0user\0root");
    assert!(matches!(pair.run().expect_err("unsendable").client, Some(LoginError::Unsendable(_))));
    let credential = password("a\0b");
    let pair = Pair::new(Challenge::Cleartext, Some(plain()), credential).over_tls();
    assert!(matches!(pair.run().expect_err("unsendable").client, Some(LoginError::Unsendable("password"))));
}
