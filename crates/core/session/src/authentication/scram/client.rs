//! The client's side of SCRAM, for our login to a server: [`MechanismChosen`], then [`ProofMade`], then done.

use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::keys::{ScramKeys, derive};
use super::messages::{BindingFlag, ServerFinal, ServerFirst};
use super::{SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramError};
use crate::authentication::Password;
use crate::entropy::Entropy;

/// The secret with which the client makes its proof.
#[derive(Debug, Clone)]
pub enum ProofSource {
    /// The password.
    Password {
        /// The password.
        password: Password,
        /// Keys from an earlier login with this password. They are used if they were derived with the server's salt.
        cached: Option<Arc<ScramKeys>>,
    },
    /// Only keys: a client's login to us gave them, and we log in to the server as that client.
    Keys(Arc<ScramKeys>),
}

/// The state of TLS on this connection, which decides about channel binding.
#[derive(Debug, Clone)]
pub enum Channel {
    /// No TLS.
    Plain,
    /// TLS. The `tls-server-end-point` data is a hash of the server's certificate; `None` if there is no such hash.
    Tls(Option<Vec<u8>>),
}

/// The mechanism is chosen, and the first message is made.
#[derive(Debug)]
pub struct MechanismChosen {
    flag: BindingFlag,
    binding: Vec<u8>,
    nonce: String,
    message: String,
}

/// The proof is made. The server's signature must come next.
pub struct ProofMade {
    bound: bool,
    keys: Arc<ScramKeys>,
    auth_message: String,
    message: String,
}

impl MechanismChosen {
    /// Chooses one of the `offered` mechanisms: one with channel binding if that is possible.
    pub fn new<'a>(
        offered: impl IntoIterator<Item = &'a [u8]>,
        channel: &Channel,
        nonce: String,
    ) -> Result<Self, ScramError> {
        let (mut plain, mut plus) = (false, false);
        for mechanism in offered {
            plain |= mechanism == SCRAM_SHA_256.as_bytes();
            plus |= mechanism == SCRAM_SHA_256_PLUS.as_bytes();
        }
        let (flag, binding) = match channel {
            // As in libpq: without TLS there is nothing to bind to. If the server still offers binding, its side of the
            // connection has TLS and ours does not, so somebody sits in between.
            Channel::Plain if plus => return Err(ScramError::Downgrade),
            Channel::Tls(Some(binding)) if plus => (BindingFlag::Bound, binding.clone()),
            Channel::Tls(Some(_)) => (BindingFlag::NotOffered, Vec::new()),
            Channel::Plain | Channel::Tls(None) => (BindingFlag::Unsupported, Vec::new()),
        };
        if flag != BindingFlag::Bound && !plain {
            return Err(ScramError::NoMechanism);
        }
        let message = format!("{}n=,r={nonce}", flag.gs2_header());
        Ok(Self { flag, binding, nonce, message })
    }

    /// The name of the chosen mechanism, for SASLInitialResponse.
    pub fn mechanism(&self) -> &'static str {
        if self.flag == BindingFlag::Bound { SCRAM_SHA_256_PLUS } else { SCRAM_SHA_256 }
    }

    /// `client-first-message`, for SASLInitialResponse.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Handles `server-first-message` and makes the proof. This is slow if it must derive keys. The server chooses the
    /// iteration count, up to `iterations_max`.
    pub fn server_first(
        self,
        message: &[u8],
        proof: &ProofSource,
        iterations_max: u32,
    ) -> Result<ProofMade, ScramError> {
        let first = ServerFirst::parse(message)?;
        if first.nonce.len() <= self.nonce.len() || !first.nonce.starts_with(&self.nonce) {
            return Err(ScramError::NonceMismatch);
        }
        let asked = first.iterations.get();
        if asked > iterations_max {
            return Err(ScramError::TooManyIterations { asked, max: iterations_max });
        }
        let keys = match proof {
            ProofSource::Keys(keys) if keys.were_derived_with(&first.salt, first.iterations) => {
                Arc::clone(keys)
            }
            ProofSource::Keys(_) => return Err(ScramError::KeysDoNotFit),
            ProofSource::Password { cached: Some(keys), .. }
                if keys.were_derived_with(&first.salt, first.iterations) =>
            {
                Arc::clone(keys)
            }
            ProofSource::Password { password, .. } => {
                Arc::new(derive(password.expose(), &first.salt, first.iterations))
            }
        };
        let binding = [self.flag.gs2_header().as_bytes(), &self.binding].concat();
        let without_proof = format!("c={},r={}", STANDARD.encode(binding), first.nonce);
        let first_bare = &self.message[self.flag.gs2_header().len()..];
        let server_first = String::from_utf8_lossy(message);
        let auth_message = format!("{first_bare},{server_first},{without_proof}");
        let proof = STANDARD.encode(keys.proof(&[auth_message.as_bytes()]));
        let bound = self.flag == BindingFlag::Bound;
        Ok(ProofMade { bound, keys, auth_message, message: format!("{without_proof},p={proof}") })
    }
}

impl ProofMade {
    /// `client-final-message`, for SASLResponse.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Whether the proof uses channel binding.
    pub fn is_bound(&self) -> bool {
        self.bound
    }

    /// Handles `server-final-message`. Only after this call it is sure that the server knows the secret. Returns the
    /// keys, which the caller may keep for the next login.
    pub fn server_final(self, message: &[u8]) -> Result<Arc<ScramKeys>, ScramError> {
        let ServerFinal::Signature(signature) = ServerFinal::parse(message)? else {
            return Err(ScramError::ServerRefused);
        };
        if !self.keys.verify_server(&signature, &[self.auth_message.as_bytes()]) {
            return Err(ScramError::WrongServerSignature);
        }
        Ok(self.keys)
    }
}

impl fmt::Debug for ProofMade {
    /// Does not show the proof: whoever has the proof and the stored secret can compute the client's key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProofMade(..)")
    }
}

/// A fresh nonce for [`MechanismChosen::new`].
pub fn nonce(entropy: &mut dyn Entropy) -> String {
    super::server::nonce(entropy)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    /// The exchange of RFC 7677, section 3.
    const SERVER_FIRST: &[u8] =
        b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
    const CLIENT_FINAL: &str = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
        p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
    const SERVER_FINAL: &[u8] = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";
    const NONCE: &str = "rOprNGfwEbeRWgbNEkqO";

    fn chosen() -> MechanismChosen {
        MechanismChosen {
            flag: BindingFlag::Unsupported,
            binding: Vec::new(),
            nonce: NONCE.to_owned(),
            message: format!("n,,n=user,r={NONCE}"),
        }
    }

    fn password(password: &str) -> ProofSource {
        ProofSource::Password { password: Password::new(password), cached: None }
    }

    #[test]
    fn the_exchange_of_rfc_7677() {
        let proved = chosen().server_first(SERVER_FIRST, &password("pencil"), 4096).expect("well formed");
        assert_eq!(proved.message(), CLIENT_FINAL);
        let keys = proved.server_final(SERVER_FINAL).expect("the right signature");
        // The keys are enough too, alone or as a cache beside a password.
        for proof in [
            ProofSource::Keys(Arc::clone(&keys)),
            ProofSource::Password { password: Password::new("not used"), cached: Some(keys) },
        ] {
            let proved = chosen().server_first(SERVER_FIRST, &proof, 4096).expect("well formed");
            assert_eq!(proved.message(), CLIENT_FINAL);
            assert!(proved.server_final(SERVER_FINAL).is_ok());
        }
    }

    #[test]
    fn keys_with_another_salt_are_not_used() {
        let keys = Arc::new(derive(b"pencil", b"other salt", NonZeroU32::MIN));
        let error = chosen()
            .server_first(SERVER_FIRST, &ProofSource::Keys(Arc::clone(&keys)), 4096)
            .expect_err("unfit");
        assert_eq!(error, ScramError::KeysDoNotFit);
        let proof = ProofSource::Password { password: Password::new("pencil"), cached: Some(keys) };
        let proved = chosen().server_first(SERVER_FIRST, &proof, 4096).expect("derived again");
        assert_eq!(proved.message(), CLIENT_FINAL);
    }

    #[test]
    fn a_server_that_does_not_know_the_secret_is_refused() {
        let proved = || chosen().server_first(SERVER_FIRST, &password("pencil"), 4096).expect("well formed");
        let wrong = b"v=7rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";
        assert_eq!(proved().server_final(wrong).expect_err("wrong"), ScramError::WrongServerSignature);
        assert_eq!(proved().server_final(b"e=other-error").expect_err("refused"), ScramError::ServerRefused);
        assert!(matches!(proved().server_final(b""), Err(ScramError::Malformed(_))));
        assert!(matches!(proved().server_final(b"v=AAAA"), Err(ScramError::Malformed(_))));
    }

    #[test]
    fn too_many_iterations_are_refused_before_any_is_computed() {
        for asked in [4097, u32::MAX] {
            let message = format!("r={NONCE}x,s=AAAA,i={asked}");
            let error =
                chosen().server_first(message.as_bytes(), &password("x"), 4096).expect_err("too many");
            assert_eq!(error, ScramError::TooManyIterations { asked, max: 4096 });
        }
    }

    #[test]
    fn the_servers_nonce_must_extend_ours() {
        for nonce in [NONCE, "other", &NONCE[..4], &format!("x{NONCE}")] {
            let message = format!("r={nonce},s=AAAA,i=1");
            let error = chosen().server_first(message.as_bytes(), &password("x"), 4096).expect_err("nonce");
            assert_eq!(error, ScramError::NonceMismatch, "{nonce}");
        }
    }

    #[test]
    fn the_best_mechanism_is_chosen() {
        let (plain, plus) = (SCRAM_SHA_256.as_bytes(), SCRAM_SHA_256_PLUS.as_bytes());
        let choose = |offered: &[&[u8]], channel: Channel| {
            MechanismChosen::new(offered.iter().copied(), &channel, String::from("nonce"))
                .map(|chosen| (chosen.mechanism(), chosen.message().to_owned()))
        };
        let bound = || Channel::Tls(Some(b"hash".to_vec()));
        let is = |mechanism, message: &str| Ok((mechanism, message.to_owned()));
        assert_eq!(choose(&[plain], Channel::Plain), is(SCRAM_SHA_256, "n,,n=,r=nonce"));
        assert_eq!(choose(&[plain], bound()), is(SCRAM_SHA_256, "y,,n=,r=nonce"));
        assert_eq!(
            choose(&[plus, plain], bound()),
            is(SCRAM_SHA_256_PLUS, "p=tls-server-end-point,,n=,r=nonce")
        );
        assert_eq!(choose(&[plus, plain], Channel::Tls(None)), is(SCRAM_SHA_256, "n,,n=,r=nonce"));
        assert_eq!(choose(&[plus], Channel::Tls(None)), Err(ScramError::NoMechanism));
        assert_eq!(choose(&[plus, plain], Channel::Plain), Err(ScramError::Downgrade));
        assert_eq!(choose(&[b"OAUTHBEARER"], bound()), Err(ScramError::NoMechanism));
        assert_eq!(choose(&[], Channel::Plain), Err(ScramError::NoMechanism));
    }

    #[test]
    fn debug_shows_no_proof() {
        let proved = chosen().server_first(SERVER_FIRST, &password("pencil"), 4096).expect("well formed");
        assert_eq!(format!("{proved:?}"), "ProofMade(..)");
        assert!(!format!("{:?}", password("pencil")).contains("pencil"));
    }
}
