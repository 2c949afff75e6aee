//! The server's side of SCRAM, for a client's login to us: [`Offer`], then [`Challenged`], then [`Accepted`].

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use subtle::ConstantTimeEq;

use super::keys::{ScramKeys, ScramSecret};
use super::messages::{BindingFlag, ClientFinal, ClientFirst};
use super::{NONCE_BYTES, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramError};
use crate::entropy::Entropy;

/// The mechanisms are offered. The client must choose one next.
#[derive(Debug)]
pub struct Offer {
    secret: ScramSecret,
    always_fails: bool,
    binding: Option<Vec<u8>>,
    nonce: String,
}

/// Salt and nonce are sent. The client's proof must come next.
#[derive(Debug)]
pub struct Challenged {
    secret: ScramSecret,
    always_fails: bool,
    expected_binding: Vec<u8>,
    client_first_bare: String,
    server_first: String,
    nonce: String,
}

/// The client's proof was correct.
#[derive(Debug)]
pub struct Accepted {
    /// `server-final-message`, for AuthenticationSASLFinal.
    pub message: String,
    /// The client's keys: with them we can log in to a server as this client.
    pub keys: ScramKeys,
}

impl Offer {
    /// Begins an exchange.
    ///
    /// `always_fails`: the exchange runs to its end but always fails, because the user does not exist
    /// ([`ScramSecret::mock`]). `binding`: on TLS, the `tls-server-end-point` data, which is a hash of our
    /// certificate. If it is given, the mechanism with channel binding is offered too.
    pub fn new(
        secret: ScramSecret,
        always_fails: bool,
        binding: Option<Vec<u8>>,
        entropy: &mut dyn Entropy,
    ) -> Self {
        Self { secret, always_fails, binding, nonce: nonce(entropy) }
    }

    /// The mechanisms for AuthenticationSASL, the best one first.
    pub fn mechanisms(&self) -> &'static [&'static str] {
        match self.binding {
            Some(_) => &[SCRAM_SHA_256_PLUS, SCRAM_SHA_256],
            None => &[SCRAM_SHA_256],
        }
    }

    /// Handles the client's choice and its first message. [`Challenged::message`] is the answer.
    pub fn client_first(self, mechanism: &[u8], message: &[u8]) -> Result<Challenged, ScramError> {
        let bound = mechanism == SCRAM_SHA_256_PLUS.as_bytes();
        if !self.mechanisms().iter().any(|offered| offered.as_bytes() == mechanism) {
            return Err(ScramError::MechanismNotOffered);
        }
        let first = ClientFirst::parse(message)?;
        if bound != (first.flag == BindingFlag::Bound) {
            return Err(ScramError::BindingFlagMismatch);
        }
        if first.flag == BindingFlag::NotOffered && self.binding.is_some() {
            return Err(ScramError::Downgrade);
        }
        let mut expected_binding = first.flag.gs2_header().as_bytes().to_vec();
        if bound {
            expected_binding.extend_from_slice(self.binding.as_deref().unwrap_or_default());
        }
        let nonce = format!("{}{}", first.nonce, self.nonce);
        let server_first =
            format!("r={nonce},s={},i={}", STANDARD.encode(self.secret.salt()), self.secret.iterations());
        Ok(Challenged {
            secret: self.secret,
            always_fails: self.always_fails,
            expected_binding,
            client_first_bare: first.bare.to_owned(),
            server_first,
            nonce,
        })
    }
}

impl Challenged {
    /// `server-first-message`, for AuthenticationSASLContinue.
    pub fn message(&self) -> &str {
        &self.server_first
    }

    /// Handles the message with the client's proof.
    pub fn client_final(self, message: &[u8]) -> Result<Accepted, ScramError> {
        let last = ClientFinal::parse(message)?;
        if !bool::from(last.binding.ct_eq(&self.expected_binding)) {
            return Err(ScramError::BindingMismatch);
        }
        if last.nonce != self.nonce {
            return Err(ScramError::NonceMismatch);
        }
        let auth_message: [&[u8]; 5] = [
            self.client_first_bare.as_bytes(),
            b",",
            self.server_first.as_bytes(),
            b",",
            last.without_proof.as_bytes(),
        ];
        // The proof is checked even if the exchange always fails, so that the time does not show which users exist.
        let keys = ScramKeys::from_proof(&last.proof, &self.secret, &auth_message);
        match keys {
            Some(keys) if !self.always_fails => {
                let signature = STANDARD.encode(self.secret.server_signature(&auth_message));
                Ok(Accepted { message: format!("v={signature}"), keys })
            }
            _ => Err(ScramError::WrongProof),
        }
    }
}

/// A fresh nonce: [`NONCE_BYTES`] random bytes as base64 text.
pub(super) fn nonce(entropy: &mut dyn Entropy) -> String {
    let mut bytes = [0; NONCE_BYTES];
    entropy.fill(&mut bytes);
    STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::super::keys::derive;
    use super::*;

    /// The exchange of RFC 7677, section 3.
    const CLIENT_FIRST: &[u8] = b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO";
    const SERVER_FIRST: &str =
        "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
    const CLIENT_FINAL: &[u8] = b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
        p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
    const SERVER_FINAL: &str = "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";

    fn offer(password: &[u8], always_fails: bool, binding: Option<Vec<u8>>) -> Offer {
        let salt = STANDARD.decode("W22ZaJ0SNY7soEsUEjb6gQ==").expect("base64");
        let secret = derive(password, &salt, NonZeroU32::new(4096).expect("not zero")).to_secret();
        Offer { secret, always_fails, binding, nonce: String::from("%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0") }
    }

    fn challenged(password: &[u8]) -> Challenged {
        offer(password, false, None).client_first(b"SCRAM-SHA-256", CLIENT_FIRST).expect("well formed")
    }

    #[test]
    fn the_exchange_of_rfc_7677() {
        let challenged = challenged(b"pencil");
        assert_eq!(challenged.message(), SERVER_FIRST);
        let accepted = challenged.client_final(CLIENT_FINAL).expect("the right proof");
        assert_eq!(accepted.message, SERVER_FINAL);
    }

    #[test]
    fn the_keys_are_recovered_from_the_proof() {
        let accepted = challenged(b"pencil").client_final(CLIENT_FINAL).expect("the right proof");
        let secret = offer(b"pencil", false, None).secret;
        assert!(secret.belongs_to(&accepted.keys));
        assert!(accepted.keys.were_derived_with(secret.salt(), secret.iterations()));
    }

    #[test]
    fn wrong_passwords_and_mock_exchanges_fail_alike() {
        let wrong = challenged(b"pencil2").client_final(CLIENT_FINAL);
        assert_eq!(wrong.expect_err("wrong"), ScramError::WrongProof);
        let always_fails =
            offer(b"pencil", true, None).client_first(b"SCRAM-SHA-256", CLIENT_FIRST).expect("well formed");
        assert_eq!(
            always_fails.client_final(CLIENT_FINAL).expect_err("always_fails"),
            ScramError::WrongProof
        );
    }

    #[test]
    fn changed_nonces_and_bindings_are_refused() {
        let change = |from: &str, to: &str| {
            let message = std::str::from_utf8(CLIENT_FINAL).expect("text").replace(from, to);
            challenged(b"pencil").client_final(message.as_bytes()).expect_err("changed")
        };
        assert_eq!(change("NlF$k0", "NlF$k1"), ScramError::NonceMismatch);
        assert_eq!(change("NlF$k0", ""), ScramError::NonceMismatch);
        assert_eq!(change("biws", "eSws"), ScramError::BindingMismatch);
        assert_eq!(change(",p=dHz", ",p=eHz"), ScramError::WrongProof);
        assert_eq!(change(",p=", ",x=y,p="), ScramError::WrongProof);
    }

    #[test]
    fn mechanism_and_binding_flag_must_agree() {
        let first = |binding: Option<&[u8]>, mechanism: &str, flag: &str| {
            let message = format!("{flag},,n=,r=abc");
            offer(b"x", false, binding.map(<[u8]>::to_vec))
                .client_first(mechanism.as_bytes(), message.as_bytes())
        };
        let (plain, plus) = (SCRAM_SHA_256, SCRAM_SHA_256_PLUS);
        let bound = "p=tls-server-end-point";
        for (binding, mechanism, flag) in [
            (None, plain, "n"),
            (None, plain, "y"),
            (Some(&b"hash"[..]), plain, "n"),
            (Some(b"hash"), plus, bound),
        ] {
            assert!(first(binding, mechanism, flag).is_ok(), "{mechanism} {flag}");
        }
        let cases: [(Option<&[u8]>, &str, &str, ScramError); 7] = [
            (None, plus, bound, ScramError::MechanismNotOffered),
            (None, "SCRAM-SHA-1", "n", ScramError::MechanismNotOffered),
            (None, plain, bound, ScramError::BindingFlagMismatch),
            (Some(b"hash"), plain, bound, ScramError::BindingFlagMismatch),
            (Some(b"hash"), plus, "n", ScramError::BindingFlagMismatch),
            (Some(b"hash"), plus, "y", ScramError::BindingFlagMismatch),
            (Some(b"hash"), plain, "y", ScramError::Downgrade),
        ];
        for (binding, mechanism, flag, expected) in cases {
            assert_eq!(first(binding, mechanism, flag).expect_err(flag), expected, "{mechanism} {flag}");
        }
    }
}
