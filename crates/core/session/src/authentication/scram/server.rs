//! We verify a client: [`Offer`] -> [`Challenged`] -> [`Accepted`].

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use subtle::ConstantTimeEq;

use super::keys::{ScramKeys, ScramSecret};
use super::messages::{BindingFlag, ClientFinal, ClientFirst};
use super::{NONCE_BYTES, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramError};
use crate::entropy::Entropy;

/// The mechanisms are offered, the client has yet to choose.
#[derive(Debug)]
pub struct Offer {
    secret: ScramSecret,
    doomed: bool,
    binding: Option<Vec<u8>>,
    nonce: String,
}

/// Salt and nonce are sent, the proof is awaited.
#[derive(Debug)]
pub struct Challenged {
    secret: ScramSecret,
    doomed: bool,
    expected_binding: Vec<u8>,
    client_first_bare: String,
    server_first: String,
    nonce: String,
}

/// The client has proved itself.
#[derive(Debug)]
pub struct Accepted {
    /// `server-final-message`, for AuthenticationSASLFinal.
    pub message: String,
    /// The client's keys, fit to log in elsewhere in its name.
    pub keys: ScramKeys,
}

impl Offer {
    /// Begins an exchange.
    ///
    /// `doomed`: it runs to its end but fails, because the user does not exist ([`ScramSecret::mock`]).
    /// `binding`: on TLS, the `tls-server-end-point` data (hash of our certificate); with it the exchange with
    /// channel binding is offered too.
    pub fn new(
        secret: ScramSecret,
        doomed: bool,
        binding: Option<Vec<u8>>,
        entropy: &mut dyn Entropy,
    ) -> Self {
        Self { secret, doomed, binding, nonce: nonce(entropy) }
    }

    /// What AuthenticationSASL lists, best first.
    pub fn mechanisms(&self) -> &'static [&'static str] {
        match self.binding {
            Some(_) => &[SCRAM_SHA_256_PLUS, SCRAM_SHA_256],
            None => &[SCRAM_SHA_256],
        }
    }

    /// Takes the client's choice and first message; the answer is [`Challenged::message`].
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
            doomed: self.doomed,
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

    /// Takes the proof.
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
        // The proof is checked for a doomed exchange too, so that both take as long.
        let keys = ScramKeys::from_proof(&last.proof, &self.secret, &auth_message);
        match keys {
            Some(keys) if !self.doomed => {
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
