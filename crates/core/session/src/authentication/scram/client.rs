//! We prove ourselves to a server: [`Chosen`] -> [`Proved`] -> done.

use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::keys::{ScramKeys, derive};
use super::messages::{BindingFlag, ServerFinal, ServerFirst};
use super::{SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramError};
use crate::authentication::Password;
use crate::entropy::Entropy;

/// What the client proves itself with.
#[derive(Debug, Clone)]
pub enum Proof {
    /// The password. `cached` are keys derived from it before, used when they fit the server's salt.
    Password {
        /// The password.
        password: Password,
        /// Keys of an earlier login with it.
        cached: Option<Arc<ScramKeys>>,
    },
    /// Keys alone: a pass-through.
    Keys(Arc<ScramKeys>),
}

/// What is known of the TLS connection when the mechanism is chosen.
#[derive(Debug, Clone)]
pub enum Channel {
    /// No TLS.
    Plain,
    /// TLS; with the `tls-server-end-point` data (hash of the server's certificate) where it can be had.
    Tls(Option<Vec<u8>>),
}

/// The mechanism is chosen and the first message made.
#[derive(Debug)]
pub struct Chosen {
    flag: BindingFlag,
    binding: Vec<u8>,
    nonce: String,
    message: String,
}

/// The proof is made, the server's signature is awaited.
pub struct Proved {
    bound: bool,
    keys: Arc<ScramKeys>,
    auth_message: String,
    message: String,
}

impl Chosen {
    /// Chooses among the `offered` mechanisms: with channel binding wherever that is possible.
    pub fn new<'a>(
        offered: impl IntoIterator<Item = &'a [u8]>,
        channel: &Channel,
        entropy_nonce: String,
    ) -> Result<Self, ScramError> {
        let (mut plain, mut plus) = (false, false);
        for mechanism in offered {
            plain |= mechanism == SCRAM_SHA_256.as_bytes();
            plus |= mechanism == SCRAM_SHA_256_PLUS.as_bytes();
        }
        let (flag, binding) = match channel {
            // As libpq: a server cannot bind to a TLS connection that is not there, so someone in between has one.
            Channel::Plain if plus => return Err(ScramError::Downgrade),
            Channel::Tls(Some(binding)) if plus => (BindingFlag::Bound, binding.clone()),
            Channel::Tls(Some(_)) => (BindingFlag::NotOffered, Vec::new()),
            Channel::Plain | Channel::Tls(None) => (BindingFlag::Unsupported, Vec::new()),
        };
        if flag != BindingFlag::Bound && !plain {
            return Err(ScramError::NoMechanism);
        }
        let message = format!("{}n=,r={entropy_nonce}", flag.gs2_header());
        Ok(Self { flag, binding, nonce: entropy_nonce, message })
    }

    /// The chosen mechanism's name, for SASLInitialResponse.
    pub fn mechanism(&self) -> &'static str {
        if self.flag == BindingFlag::Bound { SCRAM_SHA_256_PLUS } else { SCRAM_SHA_256 }
    }

    /// `client-first-message`, for SASLInitialResponse.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Takes `server-first-message`. Slow where keys must be derived; the server sets how slow, up to
    /// `iterations_max`.
    pub fn server_first(
        self,
        message: &[u8],
        proof: &Proof,
        iterations_max: u32,
    ) -> Result<Proved, ScramError> {
        let first = ServerFirst::parse(message)?;
        if first.nonce.len() <= self.nonce.len() || !first.nonce.starts_with(&self.nonce) {
            return Err(ScramError::NonceMismatch);
        }
        let asked = first.iterations.get();
        if asked > iterations_max {
            return Err(ScramError::TooManyIterations { asked, max: iterations_max });
        }
        let keys = match proof {
            Proof::Keys(keys) if keys.fit(&first.salt, first.iterations) => Arc::clone(keys),
            Proof::Keys(_) => return Err(ScramError::KeysDoNotFit),
            Proof::Password { cached: Some(keys), .. } if keys.fit(&first.salt, first.iterations) => {
                Arc::clone(keys)
            }
            Proof::Password { password, .. } => {
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
        Ok(Proved { bound, keys, auth_message, message: format!("{without_proof},p={proof}") })
    }
}

impl Proved {
    /// `client-final-message`, for SASLResponse.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Whether the proof is bound to the TLS connection.
    pub fn is_bound(&self) -> bool {
        self.bound
    }

    /// Takes `server-final-message`. Only after this is the server known to know the secret. Gives the keys, to be
    /// kept for the next login.
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

impl fmt::Debug for Proved {
    /// Leaves the proof out: with the stored secret it gives the client's key away.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Proved(..)")
    }
}

/// A fresh nonce for [`Chosen::new`].
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

    fn chosen() -> Chosen {
        Chosen {
            flag: BindingFlag::Unsupported,
            binding: Vec::new(),
            nonce: NONCE.to_owned(),
            message: format!("n,,n=user,r={NONCE}"),
        }
    }

    fn password(password: &str) -> Proof {
        Proof::Password { password: Password::new(password), cached: None }
    }

    #[test]
    fn the_exchange_of_rfc_7677() {
        let proved = chosen().server_first(SERVER_FIRST, &password("pencil"), 4096).expect("well formed");
        assert_eq!(proved.message(), CLIENT_FINAL);
        let keys = proved.server_final(SERVER_FINAL).expect("the right signature");
        // The keys alone do as well, and as a cache.
        for proof in [
            Proof::Keys(Arc::clone(&keys)),
            Proof::Password { password: Password::new("not used"), cached: Some(keys) },
        ] {
            let proved = chosen().server_first(SERVER_FIRST, &proof, 4096).expect("well formed");
            assert_eq!(proved.message(), CLIENT_FINAL);
            assert!(proved.server_final(SERVER_FINAL).is_ok());
        }
    }

    #[test]
    fn keys_that_do_not_fit_are_not_tried() {
        let keys = Arc::new(derive(b"pencil", b"other salt", NonZeroU32::MIN));
        let error =
            chosen().server_first(SERVER_FIRST, &Proof::Keys(Arc::clone(&keys)), 4096).expect_err("unfit");
        assert_eq!(error, ScramError::KeysDoNotFit);
        let proof = Proof::Password { password: Password::new("pencil"), cached: Some(keys) };
        let proved = chosen().server_first(SERVER_FIRST, &proof, 4096).expect("derived again");
        assert_eq!(proved.message(), CLIENT_FINAL);
    }

    #[test]
    fn a_server_that_does_not_know_the_secret_is_found_out() {
        let proved = || chosen().server_first(SERVER_FIRST, &password("pencil"), 4096).expect("well formed");
        let wrong = b"v=7rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";
        assert_eq!(proved().server_final(wrong).expect_err("wrong"), ScramError::WrongServerSignature);
        assert_eq!(proved().server_final(b"e=other-error").expect_err("refused"), ScramError::ServerRefused);
        assert!(matches!(proved().server_final(b""), Err(ScramError::Malformed(_))));
        assert!(matches!(proved().server_final(b"v=AAAA"), Err(ScramError::Malformed(_))));
    }

    #[test]
    fn absurd_iterations_are_refused_before_any_is_computed() {
        for asked in [4097, u32::MAX] {
            let message = format!("r={NONCE}x,s=AAAA,i={asked}");
            let error =
                chosen().server_first(message.as_bytes(), &password("x"), 4096).expect_err("too many");
            assert_eq!(error, ScramError::TooManyIterations { asked, max: 4096 });
        }
    }

    #[test]
    fn the_nonce_must_go_on_where_ours_ends() {
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
            Chosen::new(offered.iter().copied(), &channel, String::from("nonce"))
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
        assert_eq!(format!("{proved:?}"), "Proved(..)");
        assert!(!format!("{:?}", password("pencil")).contains("pencil"));
    }
}
