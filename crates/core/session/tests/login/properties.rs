//! For any bytes of a peer, in any pieces, a login gives an answer or an error. It never panics, and never needs more
//! memory than the limits allow.

use std::num::NonZeroU32;
use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use trunkline_session::authentication::scram::keys::derive;
use trunkline_session::authentication::userlist::Userlist;
use trunkline_session::authentication::{Password, Secret};
use trunkline_session::backend::{self, Challenge, TlsOffer};
use trunkline_session::frontend::{self, Credential, ServerLogin, TlsWish};
use trunkline_wire::startup::ProtocolVersion;

use crate::pair::{Pair, entropy};
use crate::start::{login_with, startup};

const CHALLENGES: [Challenge; 4] = [Challenge::Trust, Challenge::Cleartext, Challenge::Md5, Challenge::Scram];

/// Feeds a backend login in pieces, as a listener would, until it fails, it succeeds, or no bytes are left.
fn feed_backend(bytes: &[u8], pieces: &[usize], challenge: Challenge) {
    let mut login = login_with(|settings| {
        settings.tls = TlsOffer::Allowed;
        settings.cleartext_without_tls = true;
    });
    let (mut arrived, mut out) = (Vec::new(), Vec::new());
    let mut rest = bytes;
    for piece in pieces.iter().copied().cycle().take(bytes.len().max(1)) {
        let (now, later) = rest.split_at(piece.clamp(1, rest.len().max(1)).min(rest.len()));
        arrived.extend_from_slice(now);
        rest = later;
        loop {
            let Ok(consumed) = login.handle_bytes(&arrived, &mut out) else { return };
            arrived.drain(..consumed);
            match login.poll() {
                None => break,
                Some(backend::LoginEvent::StartTls | backend::LoginEvent::DirectTls) => {
                    login.tls_started(None);
                }
                Some(backend::LoginEvent::Startup(_)) => {
                    let stored = Some(Secret::Plain(Password::new("sesame")));
                    if login.challenge(challenge, stored, &mut entropy(1), &mut out).is_err() {
                        return;
                    }
                }
                Some(backend::LoginEvent::Cancel { .. } | backend::LoginEvent::Verified(_)) => return,
            }
        }
        assert!(
            arrived.len() <= login.input_bytes_max() + piece,
            "the caller must keep more bytes than the limits allow"
        );
    }
}

fn feed_frontend(bytes: &[u8], tls: TlsWish) {
    let mut settings = ServerLogin::new("alice", "shop");
    settings.credential = Credential::Password { password: Password::new("sesame"), cached: None };
    settings.cleartext_without_tls = true;
    settings.scram_iterations_max = 10;
    settings.tls = tls;
    let mut login = frontend::Login::new(Arc::new(settings), &mut entropy(1));
    let (mut out, mut start) = (Vec::new(), 0);
    login.handle_connected(&mut out).expect("sendable");
    while let Ok(consumed) = login.handle_bytes(&bytes[start..], &mut out) {
        start += consumed;
        match login.poll() {
            Some(frontend::LoginEvent::StartTls) => login.tls_started(None, &mut out).expect("sendable"),
            Some(frontend::LoginEvent::Ready(_)) => return,
            None => return,
        }
    }
}

/// The bytes that a client sends in a complete login by password, with one byte changed.
fn client_bytes(at: usize, with: u8) -> Vec<u8> {
    let mut bytes =
        startup(ProtocolVersion::V3_2, &[("user", "alice"), ("options", "-c a=b"), ("_pq_.x", "y")]);
    bytes.extend_from_slice(b"p\0\0\0\x0bsesame\0");
    let at = at % bytes.len();
    bytes[at] = with;
    bytes
}

/// A tag, a plausible length and a body, which pass the first check.
fn server_message() -> impl Strategy<Value = Vec<u8>> {
    let tag = prop::sample::select(b"RRRRENvSKZ".to_vec());
    let code = prop::sample::select(vec![0_u32, 3, 5, 7, 10, 11, 12, 99]);
    (tag, code, vec(any::<u8>(), 0..40)).prop_map(|(tag, code, rest)| {
        let body = if tag == b'R' { [&code.to_be_bytes()[..], &rest].concat() } else { rest };
        [&[tag][..], &(body.len() as u32 + 4).to_be_bytes(), &body].concat()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn logins_succeed_in_any_pieces(cuts in vec(1_usize..60, 1..40), seed in 1_u64..1000, tls in any::<bool>()) {
        let stored = Some(Secret::Plain(Password::new("sesame")));
        let credential = Credential::Password { password: Password::new("sesame"), cached: None };
        let mut pair = Pair::new(Challenge::Scram, stored, credential);
        pair.seed = seed;
        let pair = if tls { pair.over_tls() } else { pair };
        let mut places = std::collections::HashSet::new();
        let mut place = 0;
        for cut in cuts {
            place += cut;
            places.insert(place);
        }
        prop_assert!(pair.run_in_pieces(&mut |place| places.contains(&place)).is_ok());
    }

    #[test]
    fn a_backend_login_survives_any_bytes(bytes in vec(any::<u8>(), 0..300), pieces in vec(1_usize..50, 1..5), which in 0_usize..4) {
        feed_backend(&bytes, &pieces, CHALLENGES[which]);
    }

    #[test]
    fn a_backend_login_survives_any_change(at in any::<usize>(), with in any::<u8>(), pieces in vec(1_usize..50, 1..5), which in 0_usize..4) {
        feed_backend(&client_bytes(at, with), &pieces, CHALLENGES[which]);
    }

    #[test]
    fn a_frontend_login_survives_any_bytes(bytes in vec(any::<u8>(), 0..300)) {
        feed_frontend(&bytes, TlsWish::Never);
        feed_frontend(&bytes, TlsWish::Prefer);
    }

    #[test]
    fn a_frontend_login_survives_any_messages(messages in vec(server_message(), 0..8)) {
        feed_frontend(&messages.concat(), TlsWish::Never);
    }

    #[test]
    fn any_userlist_is_read_or_refused(file in vec(any::<u8>(), 0..300)) {
        let _ = Userlist::parse(&file);
    }

    #[test]
    fn every_user_and_password_survives_the_userlist(user in "[^\0\n]{1,30}", password in "[^\0\n]{0,30}") {
        prop_assume!(!password.starts_with("md5") && !password.starts_with("SCRAM-SHA-256$"));
        let double = |text: &str| text.replace('"', "\"\"");
        let file = format!("\"{}\" \"{}\"\n", double(&user), double(&password));
        let list = Userlist::parse(file.as_bytes()).expect("well formed");
        prop_assert_eq!(list.users.len(), 1);
        match &list.users[&user] {
            None => prop_assert!(password.is_empty()),
            Some(Secret::Plain(stored)) => prop_assert!(stored.matches(password.as_bytes())),
            Some(other) => prop_assert!(false, "{:?}", other),
        }
    }

    #[test]
    fn a_secret_is_read_or_refused_and_scram_reads_back(bytes in vec(any::<u8>(), 0..200), salt in vec(any::<u8>(), 1..64)) {
        let _ = Secret::parse(&bytes);
        let _ = Secret::parse(&[b"SCRAM-SHA-256$", &bytes[..]].concat());
        let text = derive(&bytes, &salt, NonZeroU32::MIN).to_secret().to_stored_form();
        let Ok(Secret::Scram(secret)) = Secret::parse(text.as_bytes()) else { panic!("not SCRAM") };
        prop_assert_eq!(secret.salt(), &salt[..]);
    }
}
