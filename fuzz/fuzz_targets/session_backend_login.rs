//! The login of a client gets the client's bytes in pieces. It continues, ends or fails, and writes only complete messages.
//!
//! Input: settings, size of pieces, the client's stream.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use trunkline_session::authentication::{Password, Secret};
use trunkline_session::backend::{Challenge, Login, LoginEvent, LoginSettings, TlsOffer};
use trunkline_wire::backend::error_response;
use trunkline_wire::{HEADER_BYTES, header};

fuzz_target!(|input: &[u8]| {
    let [settings_byte, piece_bytes, stream @ ..] = input else { return };
    let challenge = [Challenge::Trust, Challenge::Cleartext, Challenge::Md5, Challenge::Scram]
        [usize::from(settings_byte & 3)];
    let tls = if settings_byte & 4 == 0 { TlsOffer::Disabled } else { TlsOffer::Allowed };
    let mut settings = LoginSettings::new([7; 32]);
    (settings.tls, settings.cleartext_without_tls) = (tls, true);
    settings.scram_iterations = std::num::NonZeroU32::MIN;
    let mut login = Login::new(Arc::new(settings));
    let binding = (settings_byte & 8 != 0).then(|| b"binding".to_vec());
    let (mut arrived, mut out) = (Vec::new(), Vec::new());
    for piece in stream.chunks(usize::from(*piece_bytes).max(1)) {
        arrived.extend_from_slice(piece);
        let going_on = step(&mut login, challenge, binding.as_deref(), &mut arrived, &mut out);
        assert!(arrived.len() <= login.input_bytes_max() + piece.len() || !going_on);
        if !going_on {
            break;
        }
    }
    check_output(&out);
});

/// Handles the bytes that have arrived. True if the login continues.
fn step(
    login: &mut Login,
    challenge: Challenge,
    binding: Option<&[u8]>,
    arrived: &mut Vec<u8>,
    out: &mut Vec<u8>,
) -> bool {
    loop {
        match login.handle_bytes(arrived, out) {
            Ok(consumed) => drop(arrived.drain(..consumed)),
            Err(error) => {
                assert!(!error.to_string().is_empty());
                assert_eq!(login.handle_bytes(arrived, &mut Vec::new()), Ok(0));
                return false;
            }
        }
        match login.poll() {
            None => return true,
            Some(LoginEvent::StartTls | LoginEvent::DirectTls) => {
                login.tls_started(binding.map(<[u8]>::to_vec))
            }
            Some(LoginEvent::Startup(parameters)) => {
                assert!(!parameters.user.is_empty() && !parameters.database.is_empty());
                let stored = Some(Secret::Plain(Password::new("sesame")));
                let mut entropy = |bytes: &mut [u8]| bytes.fill(9);
                if login.challenge(challenge, stored, &mut entropy, out).is_err() {
                    return false;
                }
            }
            Some(LoginEvent::Cancel { secret_key, .. }) => {
                assert!((4..=256).contains(&secret_key.len()));
                return false;
            }
            Some(LoginEvent::Verified(_)) => return false,
        }
    }
}

/// The output must be answers to SSLRequest and GSSENCRequest, then complete messages. An error may only be the last one.
fn check_output(mut out: &[u8]) {
    while let [b'S' | b'N', rest @ ..] = out {
        out = rest;
    }
    while !out.is_empty() {
        let header = header(out).expect("a length").expect("a header");
        assert!(out.len() >= HEADER_BYTES);
        out = out.get(header.frame_bytes()..).expect("a whole message");
        assert!(header.tag != error_response::TAG || out.is_empty());
    }
}
