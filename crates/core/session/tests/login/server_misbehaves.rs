//! Servers that break the protocol, and servers that refuse a login.

use std::sync::Arc;

use trunkline_session::authentication::Password;
use trunkline_session::authentication::scram::ScramError;
use trunkline_session::frontend::{
    Credential, Login, LoginError, LoginEvent, Misbehaviour, PARAMETERS_MAX, ServerLogin, TlsWish,
};
use trunkline_wire::backend::{
    Authentication, BackendKeyData, ErrorResponse, ParameterStatus, ReadyForQuery, TransactionStatus,
    authentication,
};
use trunkline_wire::startup::ProtocolVersion;
use trunkline_wire::{FrameError, SqlState};

use crate::pair::entropy;

const OK: &[u8] = b"R\0\0\0\x08\0\0\0\0";
const READY: &[u8] = b"Z\0\0\0\x05I";

/// A login that has sent its first bytes.
fn connected(change: impl FnOnce(&mut ServerLogin)) -> Login {
    let mut settings = ServerLogin::new("alice", "shop");
    settings.credential = Credential::Password { password: Password::new("sesame"), cached: None };
    change(&mut settings);
    let mut login = Login::new(Arc::new(settings), &mut entropy(5));
    login.handle_connected(&mut Vec::new()).expect("sendable");
    login
}

fn error(login: &mut Login, input: &[u8]) -> LoginError {
    let error = login.handle_bytes(input, &mut Vec::new()).expect_err("an error");
    assert!(login.poll().is_none());
    assert_eq!(login.handle_bytes(input, &mut Vec::new()), Ok(0), "the login is over");
    error
}

fn misbehaviour(input: &[u8]) -> Misbehaviour {
    match error(&mut connected(|_| {}), input) {
        LoginError::ServerMisbehaved(misbehaviour) => misbehaviour,
        other => panic!("{other:?}"),
    }
}

fn encoded(encode: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(&mut bytes);
    bytes
}

/// The login's answer to `request`.
fn answer(login: &mut Login, request: &Authentication<'_>) -> Result<Vec<u8>, LoginError> {
    let mut out = Vec::new();
    let input = encoded(|out| request.encode(out));
    login.handle_bytes(&input, &mut out).map(|consumed| {
        assert_eq!(consumed, input.len());
        out
    })
}

fn sasl(login: &mut Login, mechanisms: &[&str]) -> Result<Vec<u8>, LoginError> {
    let mut out = Vec::new();
    let input = encoded(|out| authentication::write_sasl(out, mechanisms));
    login.handle_bytes(&input, &mut out).map(|_| out)
}

#[test]
fn cve_2021_23222_unencrypted_bytes_after_the_answer_to_an_ssl_request() {
    for input in [&b"SE"[..], b"S\0", &[b"N", OK].concat()] {
        for tls in [TlsWish::Prefer, TlsWish::Require] {
            let error = error(&mut connected(|login| login.tls = tls), input);
            assert_eq!(error, LoginError::ServerMisbehaved(Misbehaviour::UnencryptedBytes));
        }
    }
}

#[test]
fn cve_2024_10977_an_error_before_tls_is_not_shown() {
    let input = encoded(|out| {
        ErrorResponse::fatal(SqlState::INVALID_PASSWORD, "send your password to me").encode(out);
    });
    for input in [&input[..], b"E", b"\x15", b"H"] {
        let error = error(&mut connected(|login| login.tls = TlsWish::Prefer), input);
        assert_eq!(error, LoginError::ServerMisbehaved(Misbehaviour::SslAnswer(input[0])));
        assert!(!format!("{error:?} {error}").contains("password"));
    }
}

#[test]
fn a_server_that_sends_first_is_refused() {
    let login = Arc::new(ServerLogin::new("alice", "shop"));
    let mut login = Login::new(login, &mut entropy(5));
    assert_eq!(
        error(&mut login, b"220 smtp"),
        LoginError::ServerMisbehaved(Misbehaviour::BytesBeforeRequest)
    );
}

#[test]
fn unexpected_messages_are_refused() {
    for tag in *b"SKZTDCQ\0" {
        let misbehaviour = misbehaviour(&[&[tag][..], &[0, 0, 0, 4]].concat());
        assert!(matches!(misbehaviour, Misbehaviour::Unexpected { tag: found, .. } if found == tag));
    }
    for tag in *b"RvTDC" {
        let misbehaviour = misbehaviour(&[OK, &[tag], &[0, 0, 0, 4]].concat());
        assert!(matches!(misbehaviour, Misbehaviour::Unexpected { tag: found, .. } if found == tag));
    }
}

#[test]
fn lengths_are_checked_before_the_message_has_arrived() {
    for length in [0_u32, 3, 1 << 31, u32::MAX] {
        let found = misbehaviour(&[b"R", &length.to_be_bytes()[..]].concat());
        assert_eq!(found, Misbehaviour::Frame(FrameError { tag: b'R', length }));
    }
    for (tag, length) in [(b'R', 2001_u32), (b'E', 30_001), (b'v', 1 << 30)] {
        let found = misbehaviour(&[&[tag][..], &length.to_be_bytes()].concat());
        assert!(matches!(found, Misbehaviour::OverLimit(_)), "{found:?}");
    }
}

#[test]
fn malformed_messages_are_refused() {
    for (before, message) in [
        (&b""[..], &b"R\0\0\0\x04"[..]),
        (b"", b"R\0\0\0\x09\0\0\0\0x"),
        (b"", b"R\0\0\0\x09\0\0\0\x05x"),
        (b"", b"R\0\0\0\x09\0\0\0\x0a\0"),
        (b"", b"E\0\0\0\x06SF"),
        (b"", b"N\0\0\0\x06SF"),
        (b"", b"v\0\0\0\x08\0\x03\0\0"),
        (OK, b"S\0\0\0\x06ab"),
        (OK, b"K\0\0\0\x0b\0\0\0\x01abc"),
        (OK, b"Z\0\0\0\x05X"),
        (OK, b"Z\0\0\0\x04"),
    ] {
        let found = misbehaviour(&[before, message].concat());
        assert!(matches!(found, Misbehaviour::Malformed(_)), "{message:?}: {found:?}");
    }
    let long_key = encoded(|out| BackendKeyData { process_id: 1, secret_key: &[0; 257] }.encode(out));
    assert!(matches!(misbehaviour(&[OK, &long_key].concat()), Misbehaviour::Malformed(_)));
}

#[test]
fn a_refusal_keeps_all_fields() {
    let input = encoded(|out| {
        ErrorResponse::fatal(SqlState::INVALID_CATALOG_NAME, "no such database").hint("make one").encode(out);
    });
    for before in [&b""[..], OK] {
        let LoginError::Refused(refusal) = error(&mut connected(|_| {}), &[before, &input].concat()) else {
            panic!("not refused")
        };
        assert_eq!(refusal.code(), Some(SqlState::INVALID_CATALOG_NAME));
        assert_eq!(refusal.to_string(), "FATAL: no such database (SQLSTATE 3D000)");
        let again = encoded(|out| refusal.response().expect("well formed").encode(out));
        assert_eq!(again, input);
    }
}

#[test]
fn cve_2026_6666_an_error_without_sqlstate_is_read() {
    for (body, expected) in [
        (&b"SFATAL\0Mgo away\0\0"[..], "FATAL: go away (no SQLSTATE)"),
        (b"\0", ": (no SQLSTATE)"),
        (b"M\xff\0\0", ": \u{fffd} (no SQLSTATE)"),
    ] {
        let input = [b"E", &(body.len() as u32 + 4).to_be_bytes()[..], body].concat();
        let LoginError::Refused(refusal) = error(&mut connected(|_| {}), &input) else {
            panic!("not refused")
        };
        assert_eq!(refusal.code(), None);
        assert_eq!(refusal.to_string().replace(":  (", ": ("), expected);
    }
}

#[test]
fn cve_2026_6664_absurd_iteration_counts_cost_nothing() {
    let mut login = connected(|_| {});
    let first = sasl(&mut login, &["SCRAM-SHA-256"]).expect("an answer");
    let nonce = String::from_utf8_lossy(&first).rsplit("r=").next().expect("a nonce").to_owned();
    let data = format!("r={nonce}x,s=AAAA,i=4294967295");
    let error =
        answer(&mut login, &Authentication::SaslContinue { data: data.as_bytes() }).expect_err("refused");
    assert_eq!(error, LoginError::Scram(ScramError::TooManyIterations { asked: u32::MAX, max: 1_000_000 }));
}

#[test]
fn a_server_that_accepts_without_its_scram_proof_is_refused() {
    let mut login = connected(|_| {});
    sasl(&mut login, &["SCRAM-SHA-256"]).expect("an answer");
    assert_eq!(error(&mut login, OK), LoginError::ServerMisbehaved(Misbehaviour::EndedWithoutProof));

    let mut login = connected(|_| {});
    let first = sasl(&mut login, &["SCRAM-SHA-256"]).expect("an answer");
    let nonce = String::from_utf8_lossy(&first).rsplit("r=").next().expect("a nonce").to_owned();
    let data = format!("r={nonce}x,s=AAAA,i=1");
    answer(&mut login, &Authentication::SaslContinue { data: data.as_bytes() }).expect("a proof");
    assert_eq!(error(&mut login, OK), LoginError::ServerMisbehaved(Misbehaviour::EndedWithoutProof));
}

#[test]
fn a_server_that_asks_twice_or_at_the_wrong_time_is_refused() {
    use Authentication::{CleartextPassword, Md5Password, SaslContinue, SaslFinal};
    let second = |first: &dyn Fn(&mut Login), request: &Authentication<'_>| {
        let mut login = connected(|login| login.cleartext_without_tls = true);
        first(&mut login);
        match answer(&mut login, request).expect_err("refused") {
            LoginError::ServerMisbehaved(misbehaviour) => misbehaviour,
            other => panic!("{other:?}"),
        }
    };
    let md5 = |login: &mut Login| drop(answer(login, &Md5Password { salt: [0; 4] }).expect("an answer"));
    let scram = |login: &mut Login| drop(sasl(login, &["SCRAM-SHA-256"]).expect("an answer"));
    assert_eq!(second(&md5, &Md5Password { salt: [1; 4] }), Misbehaviour::AskedTwice);
    assert_eq!(second(&md5, &CleartextPassword), Misbehaviour::AskedTwice);
    assert_eq!(second(&md5, &Authentication::Gss), Misbehaviour::AskedTwice);
    // A server must not get the password in clear text after SCRAM has begun.
    assert_eq!(second(&scram, &CleartextPassword), Misbehaviour::AskedTwice);
    for request in [SaslContinue { data: b"" }, SaslFinal { data: b"" }] {
        assert!(matches!(second(&|_| {}, &request), Misbehaviour::Unexpected { tag: b'R', .. }));
        assert!(matches!(second(&md5, &request), Misbehaviour::Unexpected { tag: b'R', .. }));
    }
    assert!(matches!(second(&scram, &SaslFinal { data: b"v=" }), Misbehaviour::Unexpected { .. }));
}

#[test]
fn the_error_names_an_unsupported_method() {
    for (request, name) in [
        (Authentication::KerberosV5, "Kerberos V5"),
        (Authentication::Gss, "GSSAPI"),
        (Authentication::Sspi, "SSPI"),
        (Authentication::Other { code: 77, data: b"" }, "an unknown authentication method"),
    ] {
        let error = answer(&mut connected(|_| {}), &request).expect_err("unsupported");
        assert_eq!(error, LoginError::MethodUnsupported(name));
    }
    let error = sasl(&mut connected(|_| {}), &["OAUTHBEARER"]).expect_err("unsupported");
    assert_eq!(error, LoginError::Scram(ScramError::NoMechanism));
}

#[test]
fn impossible_answers_in_version_negotiation_are_refused() {
    let negotiate = |asked: ProtocolVersion, answered: u32| {
        let input = [&b"v\0\0\0\x0c"[..], &answered.to_be_bytes(), &[0; 4]].concat();
        let mut login = connected(|login| login.protocol = asked);
        login.handle_bytes(&input, &mut Vec::new()).is_ok()
    };
    assert!(negotiate(ProtocolVersion::V3_2, 3 << 16));
    assert!(negotiate(ProtocolVersion::V3_2, 0), "only the minor version, as the manual says");
    for answered in [(3 << 16) | 1, (3 << 16) | 2, (3 << 16) | 3, 2 << 16, 4 << 16, u32::MAX] {
        assert!(!negotiate(ProtocolVersion::V3_2, answered), "{answered:#x}");
    }
    for answered in [3 << 16, (3 << 16) | 2, 0] {
        assert!(!negotiate(ProtocolVersion::V3_0, answered), "{answered:#x}");
    }
}

#[test]
fn notices_parameters_and_keys_are_read_before_ready() {
    let notice = encoded(|out| ErrorResponse::error(SqlState::WARNING, "mind the gap").encode_notice(out));
    let parameter = |name: &str, value: &str| {
        encoded(|out| ParameterStatus { name: name.as_bytes(), value: value.as_bytes() }.encode(out))
    };
    let key = encoded(|out| BackendKeyData { process_id: 9, secret_key: &[5; 32] }.encode(out));
    let (first, second) = (parameter("TimeZone", "UTC"), parameter("TimeZone", "CET"));
    let input = [&notice, OK, &notice, &first, &key, &second, READY, b"rest"].concat();
    let mut login = connected(|_| {});
    assert_eq!(login.handle_bytes(&input, &mut Vec::new()), Ok(input.len() - 4));
    let Some(LoginEvent::Ready(ready)) = login.poll() else { panic!("not ready") };
    assert_eq!(ready.parameters, [(String::from("TimeZone"), String::from("CET"))]);
    assert_eq!((ready.process_id, ready.secret_key.as_slice()), (9, &[5; 32][..]));
    assert_eq!(ready.status, TransactionStatus::Idle);
    assert!(!format!("{ready:?}").contains("5, 5"));
}

#[test]
fn a_server_without_a_cancel_key_is_accepted() {
    let mut login = connected(|_| {});
    let ready = encoded(|out| ReadyForQuery { status: TransactionStatus::Idle }.encode(out));
    login.handle_bytes(&[OK, &ready].concat(), &mut Vec::new()).expect("ready");
    let Some(LoginEvent::Ready(ready)) = login.poll() else { panic!("not ready") };
    assert!(ready.secret_key.is_empty());
}

#[test]
fn parameters_are_bounded_in_number_and_size() {
    let many: Vec<u8> = (0..=PARAMETERS_MAX)
        .flat_map(|index| {
            encoded(|out| ParameterStatus { name: format!("p{index}").as_bytes(), value: b"x" }.encode(out))
        })
        .collect();
    assert_eq!(misbehaviour(&[OK, &many].concat()), Misbehaviour::TooManyParameters);
    let large: Vec<u8> = (0..3)
        .flat_map(|index| {
            let value = vec![b'x'; 29_000];
            encoded(|out| ParameterStatus { name: format!("p{index}").as_bytes(), value: &value }.encode(out))
        })
        .collect();
    assert_eq!(misbehaviour(&[OK, &large].concat()), Misbehaviour::TooManyParameters);
}

#[test]
fn debug_shows_no_secret() {
    let mut login = connected(|_| {});
    assert!(!format!("{login:?}").contains("sesame"));
    answer(&mut login, &Authentication::Md5Password { salt: [0; 4] }).expect("an answer");
    assert!(!format!("{login:?}").contains("sesame"));
}
