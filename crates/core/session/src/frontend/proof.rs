//! The client's side of the authentication exchange with a server.

use std::fmt;
use std::sync::Arc;

use trunkline_wire::backend::Authentication;
use trunkline_wire::frontend::{PasswordMessage, SaslInitialResponse, SaslResponse};

use super::error::{LoginError, Misbehaviour};
use super::settings::{Credential, ServerLogin};
use crate::authentication::md5::{self, Md5Hash};
use crate::authentication::scram::client::{Channel, MechanismChosen, ProofMade, ProofSource};
use crate::authentication::scram::{SCRAM_SHA_256, ScramKeys};

/// The state of the exchange.
pub(super) enum Exchange {
    /// The server has asked for nothing yet.
    NotStarted { scram_nonce: String, channel: Channel },
    /// We have sent a password.
    PasswordSent,
    /// We have sent the first message of SCRAM.
    ScramBegun(MechanismChosen),
    /// We have sent the proof of SCRAM.
    ScramProved(ProofMade),
    /// The server has sent a correct signature.
    ScramDone { keys: Arc<ScramKeys>, bound: bool },
    /// The exchange has failed.
    Broken,
}

impl Exchange {
    pub(super) fn new(scram_nonce: String, channel: Channel) -> Self {
        Self::NotStarted { scram_nonce, channel }
    }

    /// Checks whether the server may send AuthenticationOk now. After SCRAM, returns the keys, and whether channel
    /// binding was used.
    pub(super) fn accepted(&mut self) -> Result<Option<(Arc<ScramKeys>, bool)>, LoginError> {
        match std::mem::replace(self, Self::Broken) {
            Self::NotStarted { .. } | Self::PasswordSent => Ok(None),
            Self::ScramDone { keys, bound } => Ok(Some((keys, bound))),
            Self::ScramBegun(_) | Self::ScramProved(_) | Self::Broken => {
                Err(Misbehaviour::EndedWithoutProof.into())
            }
        }
    }

    /// Answers an authentication message other than AuthenticationOk.
    pub(super) fn answer(
        &mut self,
        request: &Authentication<'_>,
        login: &ServerLogin,
        out: &mut Vec<u8>,
    ) -> Result<(), LoginError> {
        let before = std::mem::replace(self, Self::Broken);
        *self = match (request, before) {
            (Authentication::CleartextPassword, Self::NotStarted { channel, .. }) => {
                send_cleartext(login, &channel, out)?;
                Self::PasswordSent
            }
            (Authentication::Md5Password { salt }, Self::NotStarted { .. }) => {
                let answer = md5_hash(login)?.answer(*salt);
                PasswordMessage { password: &answer }.encode(out);
                Self::PasswordSent
            }
            (Authentication::Sasl { mechanisms }, Self::NotStarted { scram_nonce, channel }) => {
                scram_proof(&login.credential)?;
                let chosen = MechanismChosen::new(*mechanisms, &channel, scram_nonce)?;
                let first = chosen.message().as_bytes();
                SaslInitialResponse { mechanism: chosen.mechanism().as_bytes(), data: Some(first) }
                    .encode(out)
                    .map_err(|_| LoginError::Unsendable("SCRAM message"))?;
                Self::ScramBegun(chosen)
            }
            (Authentication::SaslContinue { data }, Self::ScramBegun(chosen)) => {
                let proof = scram_proof(&login.credential)?;
                let proved = chosen.server_first(data, &proof, login.scram_iterations_max)?;
                SaslResponse { data: proved.message().as_bytes() }.encode(out);
                Self::ScramProved(proved)
            }
            (Authentication::SaslFinal { data }, Self::ScramProved(proved)) => {
                let bound = proved.is_bound();
                Self::ScramDone { keys: proved.server_final(data)?, bound }
            }
            (request, before) => return Err(refuse(request, &before)),
        };
        Ok(())
    }
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotStarted { .. } => "NotStarted",
            Self::PasswordSent => "PasswordSent",
            Self::ScramBegun(_) => "ScramBegun",
            Self::ScramProved(_) => "ScramProved",
            Self::ScramDone { .. } => "ScramDone",
            Self::Broken => "Broken",
        })
    }
}

/// The error for a request that cannot be answered in the current state.
fn refuse(request: &Authentication<'_>, before: &Exchange) -> LoginError {
    let unsupported = match request {
        Authentication::KerberosV5 => "Kerberos V5",
        Authentication::Gss | Authentication::GssContinue { .. } => "GSSAPI",
        Authentication::Sspi => "SSPI",
        Authentication::Other { .. } => "an unknown authentication method",
        Authentication::SaslContinue { .. } | Authentication::SaslFinal { .. } => {
            let when = "at this point of SASL authentication";
            return Misbehaviour::Unexpected { tag: b'R', when }.into();
        }
        _ => return Misbehaviour::AskedTwice.into(),
    };
    match before {
        Exchange::NotStarted { .. } => LoginError::MethodUnsupported(unsupported),
        _ => Misbehaviour::AskedTwice.into(),
    }
}

fn send_cleartext(login: &ServerLogin, channel: &Channel, out: &mut Vec<u8>) -> Result<(), LoginError> {
    let Credential::Password { password, .. } = &login.credential else {
        return Err(unfit("a clear text password", "a password", &login.credential));
    };
    if matches!(channel, Channel::Plain) && !login.cleartext_without_tls {
        return Err(LoginError::CleartextNeedsTls);
    }
    if password.expose().contains(&0) {
        return Err(LoginError::Unsendable("password"));
    }
    PasswordMessage { password: password.expose() }
        .try_encode(out)
        .map_err(|_| LoginError::Unsendable("password"))
}

fn md5_hash(login: &ServerLogin) -> Result<Md5Hash, LoginError> {
    match &login.credential {
        Credential::Md5(hash) => Ok(hash.clone()),
        Credential::Password { password, .. } => {
            Ok(md5::hash_password(password.expose(), login.user.as_bytes()))
        }
        other => Err(unfit("an md5 password", "a password or its md5 form", other)),
    }
}

fn scram_proof(credential: &Credential) -> Result<ProofSource, LoginError> {
    match credential {
        Credential::Password { password, cached } => {
            Ok(ProofSource::Password { password: password.clone(), cached: cached.clone() })
        }
        Credential::ScramKeys(keys) => Ok(ProofSource::Keys(Arc::clone(keys))),
        other => Err(unfit(SCRAM_SHA_256, "a password or SCRAM keys", other)),
    }
}

fn unfit(method: &'static str, needs: &'static str, credential: &Credential) -> LoginError {
    let configured = match credential {
        Credential::None => "nothing",
        Credential::Password { .. } => "a password",
        Credential::Md5(_) => "the md5 form of a password",
        Credential::ScramKeys(_) => "SCRAM keys",
    };
    LoginError::CredentialUnfit { method, needs, configured }
}
