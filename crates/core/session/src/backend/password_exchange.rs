//! The password messages of a login, from the challenge to the client's last answer.

use trunkline_wire::backend::{Authentication, authentication};
use trunkline_wire::frame::Header;
use trunkline_wire::frontend::{
    PasswordMessage, SaslInitialResponse, SaslResponse, password_message, terminate,
};
use trunkline_wire::limits::SASL_MESSAGE_BYTES;
use trunkline_wire::{Limits, OverLimit};

use super::error::LoginFailure;
use super::login::{Challenge, Verified};
use super::settings::LoginSettings;
use crate::authentication::cleartext::{self, Verdict};
use crate::authentication::md5::{self, Md5Hash};
use crate::authentication::scram::{ScramError, server};
use crate::authentication::{Password, Secret};
use crate::entropy::Entropy;

/// The exchange with one user.
#[derive(Debug)]
pub(super) struct PasswordExchange {
    user: String,
    awaited: Awaited,
}

/// The effect of a message.
pub(super) enum Step {
    /// Another message must come.
    Continue,
    /// The client has proved its identity.
    Verified(Verified),
}

/// The message that must come next.
#[derive(Debug)]
enum Awaited {
    Cleartext {
        stored: Secret,
    },
    Md5 {
        salt: [u8; md5::SALT_BYTES],
        stored: Md5Hash,
    },
    ScramChoice(server::Offer),
    /// The client chose a mechanism but sent no first message with it. We asked for one with an empty challenge.
    ScramFirst {
        mechanism: Vec<u8>,
        offer: server::Offer,
    },
    ScramProof(server::Challenged),
    Nothing,
}

impl PasswordExchange {
    /// Writes the challenge. On TLS, `binding` is the `tls-server-end-point` data.
    pub(super) fn begin(
        challenge: Challenge,
        user: String,
        stored: Option<Secret>,
        settings: &LoginSettings,
        binding: Option<Vec<u8>>,
        entropy: &mut dyn Entropy,
        out: &mut Vec<u8>,
    ) -> Self {
        let awaited = match (challenge, stored) {
            (Challenge::Trust, _) => Awaited::Nothing,
            (Challenge::Cleartext, stored) => {
                Authentication::CleartextPassword.encode(out);
                // For an unknown user we check the password against a mock secret, so that it takes the same time.
                let stored = stored.unwrap_or_else(|| Secret::Scram(settings.mock_secret(&user)));
                Awaited::Cleartext { stored }
            }
            (Challenge::Md5, Some(Secret::Md5(hash))) => md5_challenge(hash, entropy, out),
            (Challenge::Md5, Some(Secret::Plain(password))) => {
                md5_challenge(md5::hash_password(password.expose(), user.as_bytes()), entropy, out)
            }
            (Challenge::Md5 | Challenge::Scram, stored) => {
                // SCRAM is not possible with these secrets. As in PostgreSQL, the exchange fails like a wrong password.
                let (secret, always_fails) = match stored {
                    Some(Secret::Scram(secret)) => (secret, false),
                    Some(Secret::Plain(password)) if !password.expose().is_empty() => {
                        (settings.scram_keys(&user, password.expose()).to_secret(), false)
                    }
                    Some(Secret::Plain(_) | Secret::Md5(_)) | None => (settings.mock_secret(&user), true),
                };
                let offer = server::Offer::new(secret, always_fails, binding, entropy);
                authentication::write_sasl(out, offer.mechanisms());
                Awaited::ScramChoice(offer)
            }
        };
        Self { user, awaited }
    }

    /// Checks a header before the message has arrived.
    pub(super) fn check(&self, header: Header, limits: &Limits) -> Result<(), LoginFailure> {
        match header.tag {
            password_message::TAG => {}
            terminate::TAG => return Err(LoginFailure::Left),
            tag => return Err(LoginFailure::UnexpectedMessage { tag }),
        }
        limits.check_before_auth(header).map_err(LoginFailure::OverLimit)?;
        let scram = !matches!(self.awaited, Awaited::Cleartext { .. } | Awaited::Md5 { .. });
        if scram && header.length > SASL_MESSAGE_BYTES {
            let over = OverLimit {
                tag: header.tag,
                length: header.length,
                limit: SASL_MESSAGE_BYTES,
                name: "SASL_MESSAGE_BYTES",
            };
            return Err(LoginFailure::OverLimit(over));
        }
        Ok(())
    }

    /// Handles the body of a message of type `p`. The state of the exchange decides which message it is.
    pub(super) fn password_message(&mut self, body: &[u8], out: &mut Vec<u8>) -> Result<Step, LoginFailure> {
        match std::mem::replace(&mut self.awaited, Awaited::Nothing) {
            Awaited::Cleartext { stored } => self.cleartext(&stored, body),
            Awaited::Md5 { salt, stored } => {
                let message = PasswordMessage::decode(body).map_err(LoginFailure::Malformed)?;
                if stored.verify(salt, message.password) {
                    Ok(Step::Verified(Verified::default()))
                } else {
                    Err(self.wrong_password())
                }
            }
            Awaited::ScramChoice(offer) => self.scram_choice(offer, body, out),
            Awaited::ScramFirst { mechanism, offer } => {
                let message = SaslResponse::decode(body).map_err(LoginFailure::Malformed)?;
                self.scram_first(offer, &mechanism, message.data, out)
            }
            Awaited::ScramProof(challenged) => self.scram_proof(challenged, body, out),
            Awaited::Nothing => Err(LoginFailure::UnexpectedMessage { tag: password_message::TAG }),
        }
    }

    fn cleartext(&self, stored: &Secret, body: &[u8]) -> Result<Step, LoginFailure> {
        let message = PasswordMessage::decode(body).map_err(LoginFailure::Malformed)?;
        match cleartext::verify(&self.user, message.password, stored) {
            Verdict::Correct(scram_keys) => {
                Ok(Step::Verified(Verified { scram_keys, password: Some(Password::new(message.password)) }))
            }
            Verdict::Wrong => Err(self.wrong_password()),
        }
    }

    fn scram_choice(
        &mut self,
        offer: server::Offer,
        body: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Step, LoginFailure> {
        let message = SaslInitialResponse::decode(body).map_err(LoginFailure::Malformed)?;
        match message.data {
            Some(first) => self.scram_first(offer, message.mechanism, first, out),
            None => {
                Authentication::SaslContinue { data: b"" }.encode(out);
                self.awaited = Awaited::ScramFirst { mechanism: message.mechanism.to_vec(), offer };
                Ok(Step::Continue)
            }
        }
    }

    fn scram_first(
        &mut self,
        offer: server::Offer,
        mechanism: &[u8],
        first: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Step, LoginFailure> {
        let challenged = offer.client_first(mechanism, first)?;
        Authentication::SaslContinue { data: challenged.message().as_bytes() }.encode(out);
        self.awaited = Awaited::ScramProof(challenged);
        Ok(Step::Continue)
    }

    fn scram_proof(
        &self,
        challenged: server::Challenged,
        body: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Step, LoginFailure> {
        let message = SaslResponse::decode(body).map_err(LoginFailure::Malformed)?;
        let accepted = challenged.client_final(message.data).map_err(|error| match error {
            ScramError::WrongProof => self.wrong_password(),
            error => LoginFailure::Scram(error),
        })?;
        Authentication::SaslFinal { data: accepted.message.as_bytes() }.encode(out);
        Ok(Step::Verified(Verified { scram_keys: Some(accepted.keys), password: None }))
    }

    fn wrong_password(&self) -> LoginFailure {
        LoginFailure::WrongPassword { user: self.user.clone() }
    }
}

fn md5_challenge(stored: Md5Hash, entropy: &mut dyn Entropy, out: &mut Vec<u8>) -> Awaited {
    let mut salt = [0; md5::SALT_BYTES];
    entropy.fill(&mut salt);
    Authentication::Md5Password { salt }.encode(out);
    Awaited::Md5 { salt, stored }
}
