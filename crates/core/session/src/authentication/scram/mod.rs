//! SCRAM-SHA-256 and SCRAM-SHA-256-PLUS (RFC 5802, RFC 7677) as PostgreSQL speaks them, on both sides.
//!
//! Each side is a chain of values, one a step: a step consumes the one before it, so none can be repeated or
//! skipped. Channel binding is `tls-server-end-point` (RFC 5929), the only type PostgreSQL knows.

pub mod client;
pub mod keys;
pub mod messages;
pub mod server;

pub use keys::{ScramKeys, ScramSecret};

/// The mechanism without channel binding.
pub const SCRAM_SHA_256: &str = "SCRAM-SHA-256";
/// The mechanism with channel binding.
pub const SCRAM_SHA_256_PLUS: &str = "SCRAM-SHA-256-PLUS";

/// Longest SCRAM message taken from a peer.
///
/// An honest one is a nonce (24 characters a side in PostgreSQL), a salt (24) or a channel binding (under 128), and a
/// proof (44): under 300. PostgreSQL reads up to 65,535.
pub const MESSAGE_BYTES_MAX: usize = 1024;
/// Longest nonce taken from a peer; PostgreSQL's and ours are 24 characters.
pub const NONCE_CHARACTERS_MAX: usize = 256;
/// Random bytes in a nonce of ours (its base64 text has 24 characters), as many as PostgreSQL's.
pub const NONCE_BYTES: usize = 18;
/// Random bytes in a salt of ours, as many as PostgreSQL's.
pub const SALT_BYTES: usize = 16;
/// Iterations where nothing else is said: PostgreSQL's default `scram_iterations`.
pub const ITERATIONS_DEFAULT: u32 = 4096;
/// Most iterations a server may make us compute where nothing else is set.
///
/// The server chooses the number and it may be hostile: 2^31-1 would take many minutes of a core. 1,000,000 take in
/// the order of a second at worst, and are more than any published recommendation for PBKDF2 with SHA-256 (600,000).
pub const ITERATIONS_MAX_DEFAULT: u32 = 1_000_000;
/// Length of a SHA-256 sum, and so of every key, proof and signature.
pub const KEY_BYTES: usize = 32;

/// Why a SCRAM exchange failed. No variant carries a secret or peer text beyond a short excerpt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScramError {
    /// A message above [`MESSAGE_BYTES_MAX`].
    #[error("a SCRAM message of {bytes} bytes is above the limit of {MESSAGE_BYTES_MAX}")]
    MessageTooLong {
        /// Its length.
        bytes: usize,
    },
    /// A message that is not of the grammar.
    #[error("malformed SCRAM message: {0}")]
    Malformed(&'static str),
    /// Something of RFC 5802 that PostgreSQL does not do either.
    #[error("{0} is not supported")]
    Unsupported(&'static str),
    /// The mechanism named is not one that was offered.
    #[error("the client chose a SASL mechanism that was not offered")]
    MechanismNotOffered,
    /// The server offers no mechanism known here.
    #[error(
        "the server offers no SASL mechanism that is supported (SCRAM-SHA-256 and SCRAM-SHA-256-PLUS are)"
    )]
    NoMechanism,
    /// Mechanism and the message's channel binding flag contradict one another.
    #[error("the chosen mechanism does not fit the channel binding flag of the SCRAM message")]
    BindingFlagMismatch,
    /// The client saw no SCRAM-SHA-256-PLUS in an offer that had it: someone in between removed it.
    #[error(
        "the client supports channel binding but was shown no offer of it: the connection may be tampered with"
    )]
    Downgrade,
    /// The channel binding data differ: the two ends are not on the same TLS connection.
    #[error("SCRAM channel binding check failed")]
    BindingMismatch,
    /// The nonce that came back is not the one that was sent.
    #[error("the SCRAM nonce does not match")]
    NonceMismatch,
    /// The server asks for more iterations than the limit.
    #[error("the server asks for {asked} SCRAM iterations, above the limit of {max}")]
    TooManyIterations {
        /// What it asks for.
        asked: u32,
        /// The limit.
        max: u32,
    },
    /// Keys of a pass-through were made with another salt or iteration count than the server's.
    #[error(
        "the SCRAM keys do not fit the server: its secret for the user has another salt or iteration count than \
         the one the client was checked against"
    )]
    KeysDoNotFit,
    /// The client's proof is wrong: a wrong password.
    #[error("the SCRAM proof is wrong")]
    WrongProof,
    /// The server's signature is wrong: it does not know the user's secret.
    #[error("the server failed to prove that it knows the user's SCRAM secret")]
    WrongServerSignature,
    /// The server said `e=...` in its last message.
    #[error("the server ended the SCRAM exchange with an error")]
    ServerRefused,
}
