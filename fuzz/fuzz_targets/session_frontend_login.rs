//! Our login to a server gets the server's bytes in pieces. The result must not depend on the pieces.
//!
//! Input: settings, size of pieces, the server's stream.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use trunkline_session::authentication::Password;
use trunkline_session::frontend::{Credential, Login, LoginError, LoginEvent, ServerLogin, TlsWish};
use trunkline_wire::startup::ProtocolVersion;

fuzz_target!(|input: &[u8]| {
    let [settings_byte, piece_bytes, stream @ ..] = input else { return };
    let mut settings = ServerLogin::new("alice", "shop");
    settings.credential = match settings_byte & 1 {
        0 => Credential::Password { password: Password::new("sesame"), cached: None },
        _ => Credential::None,
    };
    settings.tls = [TlsWish::Never, TlsWish::Prefer, TlsWish::Require, TlsWish::Direct]
        [usize::from(settings_byte >> 1 & 3)];
    settings.cleartext_without_tls = settings_byte & 8 != 0;
    settings.protocol = if settings_byte & 16 == 0 { ProtocolVersion::V3_0 } else { ProtocolVersion::V3_2 };
    settings.scram_iterations_max = 10;
    let settings = Arc::new(settings);
    let whole = run(&settings, stream, usize::MAX);
    let pieces = run(&settings, stream, usize::from(*piece_bytes).max(1));
    // The answer to an SSLRequest is the only one that depends on the bytes that came with it.
    if settings.tls == TlsWish::Never {
        assert_eq!(whole, pieces);
    }
});

/// The result of a login: consumed bytes, written bytes, and how it ended.
type Outcome = (usize, Vec<u8>, Option<Result<Vec<(String, String)>, LoginError>>);

fn run(settings: &Arc<ServerLogin>, stream: &[u8], piece_bytes: usize) -> Outcome {
    let mut login = Login::new(Arc::clone(settings), &mut |bytes: &mut [u8]| bytes.fill(9));
    let (mut arrived, mut out, mut total) = (Vec::new(), Vec::new(), 0);
    login.handle_connected(&mut out).expect("sendable");
    for piece in stream.chunks(piece_bytes) {
        arrived.extend_from_slice(piece);
        loop {
            match login.handle_bytes(&arrived, &mut out) {
                Ok(consumed) => {
                    total += consumed;
                    arrived.drain(..consumed);
                }
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    assert_eq!(login.handle_bytes(&arrived, &mut Vec::new()), Ok(0));
                    return (0, out, Some(Err(error)));
                }
            }
            match login.poll() {
                Some(LoginEvent::StartTls) => {
                    login.tls_started(Some(b"binding".to_vec()), &mut out).expect("sendable");
                }
                Some(LoginEvent::Ready(ready)) => return (total, out, Some(Ok(ready.parameters))),
                None => break,
            }
        }
    }
    (total, out, None)
}
