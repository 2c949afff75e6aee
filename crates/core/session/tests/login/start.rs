//! The first packets that a client may send, and their answers.

use std::sync::Arc;

use trunkline_session::backend::{Challenge, Login, LoginEvent, LoginSettings, TlsOffer};
use trunkline_wire::SqlState;
use trunkline_wire::backend::{ErrorResponse, NegotiateProtocolVersion};
use trunkline_wire::startup::{CancelRequest, GSSENC_REQUEST, ProtocolVersion, SSL_REQUEST, StartupMessage};

use crate::pair::{entropy, settings};

pub(crate) fn login_with(change: impl FnOnce(&mut LoginSettings)) -> Login {
    let mut settings = settings();
    change(&mut settings);
    Login::new(Arc::new(settings))
}

pub(crate) fn startup(version: ProtocolVersion, parameters: &[(&str, &str)]) -> Vec<u8> {
    let mut packet = Vec::new();
    let parameters = parameters.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
    StartupMessage::write(&mut packet, version, parameters);
    packet
}

#[test]
fn encryption_requests_are_declined_before_start_up() {
    let mut login = login_with(|_| {});
    let mut out = Vec::new();
    assert_eq!(login.handle_bytes(&GSSENC_REQUEST, &mut out), Ok(8));
    assert_eq!(login.handle_bytes(&SSL_REQUEST, &mut out), Ok(8));
    assert_eq!(out, b"NN");
    let packet = startup(ProtocolVersion::V3_0, &[("user", "alice")]);
    assert_eq!(login.handle_bytes(&packet, &mut out), Ok(packet.len()));
    assert!(matches!(login.poll(), Some(LoginEvent::Startup(_))));
    assert!(login.poll().is_none());
    assert_eq!(out, b"NN");
}

#[test]
fn a_cancel_request_is_returned_with_its_key() {
    for key in [&[1, 2, 3, 4][..], &[7; 32], &[8; 256]] {
        // A cancel request is accepted without TLS even if TLS is required, because libpq before 17 sends it without
        // TLS.
        let mut login = login_with(|settings| settings.tls = TlsOffer::Required);
        let (mut packet, mut out) = (Vec::new(), Vec::new());
        CancelRequest { process_id: -5, secret_key: key }.encode(&mut packet);
        assert_eq!(login.handle_bytes(&packet, &mut out), Ok(packet.len()));
        let Some(LoginEvent::Cancel { process_id, secret_key }) = login.poll() else { panic!("no Cancel") };
        assert_eq!((process_id, secret_key.as_slice()), (-5, key));
        assert!(out.is_empty());
        assert_eq!(login.handle_bytes(b"more", &mut out), Ok(0));
    }
}

#[test]
fn direct_tls_consumes_nothing() {
    let mut login = login_with(|settings| settings.tls = TlsOffer::Allowed);
    let mut out = Vec::new();
    assert_eq!(login.handle_bytes(&[0x16, 3, 1, 2, 0], &mut out), Ok(0));
    assert!(matches!(login.poll(), Some(LoginEvent::DirectTls)));
    assert_eq!(login.handle_bytes(&[0x16, 3, 1, 2, 0], &mut out), Ok(0));
    assert!(login.poll().is_none() && out.is_empty());
    login.tls_started(None);
    let packet = startup(ProtocolVersion::V3_0, &[("user", "alice")]);
    assert_eq!(login.handle_bytes(&packet, &mut out), Ok(packet.len()));
    assert!(matches!(login.poll(), Some(LoginEvent::Startup(_))));
}

#[test]
fn protocol_versions_and_unknown_options_are_negotiated_as_postgresql_18_does() {
    let answer = |minor, option: bool| {
        let mut login = login_with(|_| {});
        let mut parameters = vec![("user", "alice")];
        if option {
            parameters.extend([("_pq_.one", "1"), ("_pq_.two", "x")]);
        }
        let (packet, mut out) = (startup(ProtocolVersion { major: 3, minor }, &parameters), Vec::new());
        assert_eq!(login.handle_bytes(&packet, &mut out), Ok(packet.len()));
        let Some(LoginEvent::Startup(read)) = login.poll() else { panic!("no Startup") };
        (read.version.minor, out)
    };
    assert_eq!(answer(0, false), (0, vec![]));
    assert_eq!(answer(1, false), (1, vec![]));
    assert_eq!(answer(2, false), (2, vec![]));
    for (asked, option, spoken) in [(3, false, 2), (9999, false, 2), (0, true, 0), (9999, true, 2)] {
        let (minor, out) = answer(asked, option);
        let message = NegotiateProtocolVersion::decode(&out[5..]).expect("well formed");
        assert_eq!((out[0], minor, message.newest_minor()), (b'v', spoken, Some(spoken)));
        let options: Vec<&[u8]> = message.unrecognized_options().into_iter().collect();
        let expected: &[&[u8]] = if option { &[b"_pq_.one", b"_pq_.two"] } else { &[] };
        assert_eq!(options, expected);
    }
}

#[test]
fn the_caller_may_refuse_with_any_error() {
    let mut login = login_with(|_| {});
    let (packet, mut out) = (startup(ProtocolVersion::V3_0, &[("user", "alice")]), Vec::new());
    assert!(login.handle_bytes(&packet, &mut out).is_ok() && login.poll().is_some());
    login.refuse(&ErrorResponse::fatal(SqlState::INVALID_CATALOG_NAME, "no such database"), &mut out);
    let response = ErrorResponse::decode(&out[5..]).expect("well formed");
    assert_eq!(
        (response.code(), response.message()),
        (Some(SqlState::INVALID_CATALOG_NAME), &b"no such database"[..])
    );
    assert_eq!(login.handle_bytes(b"p\0\0\0\x05\0", &mut out), Ok(0));
}

#[test]
fn bytes_after_the_login_are_not_consumed() {
    let mut login = login_with(|_| {});
    let mut out = Vec::new();
    let mut input = startup(ProtocolVersion::V3_0, &[("user", "alice")]);
    let packet_bytes = input.len();
    input.extend_from_slice(b"Q\0\0\0\x0dselect 1\0");
    assert_eq!(login.handle_bytes(&input, &mut out), Ok(packet_bytes));
    assert!(matches!(login.poll(), Some(LoginEvent::Startup(_))));
    assert_eq!(login.handle_bytes(&input[packet_bytes..], &mut out), Ok(0));
    login.challenge(Challenge::Trust, None, &mut entropy(1), &mut out).expect("trusted");
    assert!(matches!(login.poll(), Some(LoginEvent::Verified(_))));
    assert_eq!(login.handle_bytes(&input[packet_bytes..], &mut out), Ok(0));
    assert!(out.is_empty());
}
