//! Clients that break the protocol: each gets an error if that is possible, and its connection ends.

use trunkline_session::authentication::scram::{SCRAM_SHA_256, ScramError};
use trunkline_session::authentication::{Password, Secret};
use trunkline_session::backend::{Challenge, Login, LoginEvent, LoginFailure, TlsOffer};
use trunkline_wire::backend::{Authentication, ErrorResponse};
use trunkline_wire::frontend::{PasswordMessage, SaslInitialResponse, SaslResponse};
use trunkline_wire::startup::{GSSENC_REQUEST, ProtocolVersion, SSL_REQUEST};
use trunkline_wire::{FrameError, SqlState};

use crate::pair::entropy;
use crate::start::{login_with, startup};

/// Feeds `input` in one piece and expects a failure. Returns the failure and the error code that the client gets, if
/// any.
fn failure(login: &mut Login, input: &[u8]) -> (LoginFailure, Option<SqlState>) {
    let mut out = Vec::new();
    let error = login.handle_bytes(input, &mut out).expect_err("a failure");
    assert!(login.poll().is_none());
    assert_eq!(login.handle_bytes(input, &mut Vec::new()), Ok(0), "the login is over");
    let code = (!out.is_empty()).then(|| {
        assert_eq!(out[0], b'E');
        let response = ErrorResponse::decode(&out[5..]).expect("well formed");
        assert_eq!(response.severity(), Some(&b"FATAL"[..]));
        assert_eq!(response.message(), error.to_string().as_bytes());
        response.code().expect("a code")
    });
    (error.failure, code)
}

/// A login that has sent its challenge, and the bytes of the challenge.
fn challenged(challenge: Challenge, stored: Option<Secret>) -> (Login, Vec<u8>) {
    let mut login = login_with(|settings| settings.cleartext_without_tls = true);
    let (packet, mut out) = (startup(ProtocolVersion::V3_0, &[("user", "alice")]), Vec::new());
    login.handle_bytes(&packet, &mut out).expect("well formed");
    assert!(matches!(login.poll(), Some(LoginEvent::Startup(_))));
    login.challenge(challenge, stored, &mut entropy(3), &mut out).expect("a challenge");
    (login, out)
}

fn plain() -> Option<Secret> {
    Some(Secret::Plain(Password::new("sesame")))
}

#[test]
fn cve_2021_3935_unencrypted_bytes_after_an_encryption_request() {
    let start = startup(ProtocolVersion::V3_0, &[("user", "alice")]);
    for (request, name) in [(SSL_REQUEST, "SSLRequest"), (GSSENC_REQUEST, "GSSENCRequest")] {
        for stuffed in [&start[..], &start[..1], b"\0"] {
            for tls in [TlsOffer::Allowed, TlsOffer::Disabled] {
                let mut login = login_with(|settings| settings.tls = tls);
                let (failure, code) = failure(&mut login, &[&request, stuffed].concat());
                assert_eq!(failure, LoginFailure::UnencryptedBytes { request: name });
                assert_eq!(code, Some(SqlState::PROTOCOL_VIOLATION));
                assert!(failure.is_misbehaviour());
            }
        }
    }
}

#[test]
fn encryption_is_negotiated_once() {
    for (first, second, name) in
        [(SSL_REQUEST, SSL_REQUEST, "SSLRequest"), (GSSENC_REQUEST, GSSENC_REQUEST, "GSSENCRequest")]
    {
        let mut login = login_with(|_| {});
        assert_eq!(login.handle_bytes(&first, &mut Vec::new()), Ok(8));
        assert_eq!(failure(&mut login, &second).0, LoginFailure::RepeatedNegotiation { request: name });
    }
    for request in [SSL_REQUEST, GSSENC_REQUEST] {
        let mut login = login_with(|settings| settings.tls = TlsOffer::Allowed);
        assert_eq!(login.handle_bytes(&SSL_REQUEST, &mut Vec::new()), Ok(8));
        assert!(matches!(login.poll(), Some(LoginEvent::StartTls)));
        login.tls_started(None);
        assert!(matches!(failure(&mut login, &request).0, LoginFailure::RepeatedNegotiation { .. }));
    }
}

#[test]
fn first_packets_of_impossible_lengths_are_refused_by_their_length() {
    for length in [0_u32, 3, 4, 7, 10_005, 400 << 20, i32::MAX as u32, u32::MAX] {
        let (failure, code) = failure(&mut login_with(|_| {}), &length.to_be_bytes());
        assert!(matches!(failure, LoginFailure::FirstPacket(_)), "{length}: {failure:?}");
        assert_eq!(code, Some(SqlState::PROTOCOL_VIOLATION));
    }
    // An HTTP client.
    assert!(matches!(
        failure(&mut login_with(|_| {}), b"GET / HTTP/1.1\r\n").0,
        LoginFailure::FirstPacket(_)
    ));
}

#[test]
fn the_refusal_names_the_unsupported_protocol() {
    for version in [ProtocolVersion { major: 2, minor: 0 }, ProtocolVersion { major: 4, minor: 7 }] {
        let (failure, code) = failure(&mut login_with(|_| {}), &startup(version, &[("user", "alice")]));
        assert_eq!(failure, LoginFailure::UnsupportedVersion(version));
        assert_eq!(code, Some(SqlState::FEATURE_NOT_SUPPORTED));
    }
}

#[test]
fn malformed_start_up_packets_are_refused() {
    let good = startup(ProtocolVersion::V3_0, &[("user", "alice")]);
    let cut = |bytes: usize| {
        let mut packet = good[..bytes].to_vec();
        packet[..4].copy_from_slice(&(bytes as u32).to_be_bytes());
        packet
    };
    for packet in
        [cut(good.len() - 1), cut(good.len() - 2), cut(10), cut(8), [cut(good.len()), vec![0]].concat()]
    {
        let mut packet = packet;
        let bytes = packet.len() as u32;
        packet[..4].copy_from_slice(&bytes.to_be_bytes());
        let (failure, code) = failure(&mut login_with(|_| {}), &packet);
        assert!(matches!(failure, LoginFailure::FirstPacket(_)), "{failure:?}");
        assert_eq!(code, Some(SqlState::PROTOCOL_VIOLATION));
    }
}

#[test]
fn only_a_password_message_may_answer_a_challenge() {
    for challenge in [Challenge::Cleartext, Challenge::Md5, Challenge::Scram] {
        let (mut login, _) = challenged(challenge, plain());
        let (unexpected, code) = failure(&mut login, b"Q\0\0\0\x0dselect 1\0");
        assert_eq!(unexpected, LoginFailure::UnexpectedMessage { tag: b'Q' });
        assert_eq!(code, Some(SqlState::PROTOCOL_VIOLATION));
        let (mut login, _) = challenged(challenge, plain());
        assert_eq!(failure(&mut login, b"X\0\0\0\x04"), (LoginFailure::Left, None));
    }
}

/// PostgreSQL does the same: it does not answer a first packet of an impossible length.
#[test]
fn a_terminate_in_place_of_the_first_packet_is_no_misbehaviour() {
    for before in [&b""[..], &SSL_REQUEST, &GSSENC_REQUEST] {
        for more in [&b""[..], b"X\0\0\0\x04"] {
            let mut login = login_with(|_| {});
            login.handle_bytes(before, &mut Vec::new()).expect("an answer");
            for part in 1..5 {
                assert_eq!(login.handle_bytes(&b"X\0\0\0\x04"[..part], &mut Vec::new()), Ok(0));
            }
            let bytes = [b"X\0\0\0\x04", more].concat();
            assert_eq!(failure(&mut login, &bytes), (LoginFailure::Left, None));
        }
    }
    for other in [&b"X\0\0\0\x05"[..], b"XX\0\0\x04", b"Y\0\0\0\x04"] {
        let (failure, code) = failure(&mut login_with(|_| {}), other);
        assert!(matches!(failure, LoginFailure::FirstPacket(_)), "{failure:?}");
        assert_eq!(code, Some(SqlState::PROTOCOL_VIOLATION));
    }
}

#[test]
fn impossible_and_excessive_lengths_are_refused_by_the_header_alone() {
    for length in [0_u32, 3, 1 << 31, u32::MAX] {
        let (mut login, _) = challenged(Challenge::Cleartext, plain());
        let input = [&b"p"[..], &length.to_be_bytes()].concat();
        let expected = LoginFailure::Frame(FrameError { tag: b'p', length });
        assert_eq!(failure(&mut login, &input), (expected, Some(SqlState::PROTOCOL_VIOLATION)));
    }
    for (challenge, length) in
        [(Challenge::Cleartext, 65_536_u32), (Challenge::Md5, 1 << 30), (Challenge::Scram, 1025)]
    {
        let (mut login, _) = challenged(challenge, plain());
        let input = [&b"p"[..], &length.to_be_bytes()].concat();
        assert!(matches!(failure(&mut login, &input).0, LoginFailure::OverLimit(_)), "{challenge:?}");
    }
}

#[test]
fn cve_2026_6665_scram_messages_of_absurd_size() {
    let (mut login, _) = challenged(Challenge::Scram, plain());
    let (mut input, nonce) = (Vec::new(), format!("n,,n=,r={}", "a".repeat(900)));
    SaslInitialResponse { mechanism: SCRAM_SHA_256.as_bytes(), data: Some(nonce.as_bytes()) }
        .encode(&mut input)
        .expect("short enough for the wire");
    let (failure, code) = failure(&mut login, &input);
    assert!(matches!(failure, LoginFailure::Scram(ScramError::Malformed(_))));
    assert_eq!(code, Some(SqlState::PROTOCOL_VIOLATION));
}

#[test]
fn malformed_answers_to_a_challenge_are_refused() {
    for body in [&b""[..], b"no zero byte", b"x\0y\0", b"x\0y"] {
        for challenge in [Challenge::Cleartext, Challenge::Md5, Challenge::Scram] {
            let (mut login, _) = challenged(challenge, plain());
            let length = (body.len() as u32 + 4).to_be_bytes();
            let (failure, code) = failure(&mut login, &[b"p", &length[..], body].concat());
            assert!(matches!(failure, LoginFailure::Malformed(_)), "{challenge:?} {body:?}: {failure:?}");
            assert_eq!(code, Some(SqlState::PROTOCOL_VIOLATION));
        }
    }
}

#[test]
fn a_scram_choice_without_data_gets_an_empty_challenge() {
    let (mut login, _) = challenged(Challenge::Scram, plain());
    let (mut input, mut out) = (Vec::new(), Vec::new());
    let choice = SaslInitialResponse { mechanism: SCRAM_SHA_256.as_bytes(), data: None };
    choice.encode(&mut input).expect("short");
    assert_eq!(login.handle_bytes(&input, &mut out), Ok(input.len()));
    assert_eq!(Authentication::decode(&out[5..]), Ok(Authentication::SaslContinue { data: b"" }));
    input.clear();
    out.clear();
    SaslResponse { data: b"n,,n=,r=abc" }.encode(&mut input);
    assert_eq!(login.handle_bytes(&input, &mut out), Ok(input.len()));
    let Ok(Authentication::SaslContinue { data }) = Authentication::decode(&out[5..]) else {
        panic!("{out:?}")
    };
    assert!(data.starts_with(b"r=abc"));
}

#[test]
fn a_mechanism_that_was_not_offered_is_refused() {
    let (mut login, out) = challenged(Challenge::Scram, plain());
    let Ok(Authentication::Sasl { mechanisms }) = Authentication::decode(&out[5..]) else {
        panic!("{out:?}")
    };
    assert_eq!(mechanisms.into_iter().collect::<Vec<_>>(), [SCRAM_SHA_256.as_bytes()]);
    let mut input = Vec::new();
    let first = SaslInitialResponse {
        mechanism: b"SCRAM-SHA-256-PLUS",
        data: Some(b"p=tls-server-end-point,,n=,r=a"),
    };
    first.encode(&mut input).expect("short");
    assert_eq!(failure(&mut login, &input).0, LoginFailure::Scram(ScramError::MechanismNotOffered));
}

/// The salt must not show whether a user exists: it is always the same for a user, and differs between users.
#[test]
fn unknown_users_get_the_same_challenge_as_known_ones() {
    let server_first = |user: &str, stored: Option<Secret>, seed: u64| {
        let mut login = login_with(|_| {});
        let (packet, mut out) = (startup(ProtocolVersion::V3_0, &[("user", user)]), Vec::new());
        login.handle_bytes(&packet, &mut out).expect("well formed");
        assert!(login.poll().is_some());
        login.challenge(Challenge::Scram, stored, &mut entropy(seed), &mut out).expect("a challenge");
        out.clear();
        let mut input = Vec::new();
        let first = SaslInitialResponse { mechanism: SCRAM_SHA_256.as_bytes(), data: Some(b"n,,n=,r=abc") };
        first.encode(&mut input).expect("short");
        login.handle_bytes(&input, &mut out).expect("well formed");
        let text = String::from_utf8(out[9..].to_vec()).expect("text");
        let (nonce, rest) = text.split_once(',').expect("attributes");
        (nonce.to_owned(), rest.to_owned())
    };
    let (first, again) = (server_first("bob", None, 1), server_first("bob", None, 2));
    assert_ne!(first.0, again.0, "the nonce is fresh");
    assert_eq!(first.1, again.1, "salt and iterations are steady");
    assert_ne!(first.1, server_first("carol", None, 1).1);
    assert_eq!(first.1, server_first("bob", plain(), 3).1, "plain passwords get the same salt");
}

#[test]
fn debug_shows_no_secret() {
    let (mut login, _) = challenged(Challenge::Cleartext, plain());
    assert!(!format!("{login:?}").contains("sesame"));
    let mut input = Vec::new();
    PasswordMessage { password: b"swordfish" }.encode(&mut input);
    let error = login.handle_bytes(&input, &mut Vec::new()).expect_err("wrong");
    assert!(!format!("{error:?} {error} {login:?}").contains("swordfish"));
    let (mut login, _) = challenged(Challenge::Cleartext, plain());
    input.clear();
    PasswordMessage { password: b"sesame" }.encode(&mut input);
    login.handle_bytes(&input, &mut Vec::new()).expect("right");
    assert!(!format!("{:?}", login.poll()).contains("sesame"));
    assert!(!format!("{:?}", crate::pair::settings()).contains("42"), "the mock key");
}
