//! The stored secret of a user, and SCRAM messages, are read or refused.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trunkline_session::authentication::Secret;
use trunkline_session::authentication::scram::messages::{
    ClientFinal, ClientFirst, ServerFinal, ServerFirst,
};

fuzz_target!(|input: &[u8]| {
    if let Ok(secret) = Secret::parse(input) {
        let shown = format!("{secret:?}");
        assert!(shown.len() < 60, "Debug shows the secret");
        if let Secret::Scram(secret) = secret {
            let text = secret.to_stored_form();
            let Ok(Secret::Scram(again)) = Secret::parse(text.as_bytes()) else {
                panic!("does not read back")
            };
            assert_eq!((again.salt(), again.iterations()), (secret.salt(), secret.iterations()));
        }
    }
    if let Ok(first) = ClientFirst::parse(input) {
        let header = first.flag.gs2_header();
        assert_eq!([header, first.bare].concat().as_bytes(), input);
        assert!(!first.nonce.is_empty() && !first.nonce.contains(','));
    }
    if let Ok(first) = ServerFirst::parse(input) {
        assert!(!first.nonce.is_empty());
    }
    if let Ok(last) = ClientFinal::parse(input) {
        assert!(input.starts_with(last.without_proof.as_bytes()));
    }
    let _ = ServerFinal::parse(input);
});
