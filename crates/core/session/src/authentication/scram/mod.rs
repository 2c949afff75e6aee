//! SCRAM-SHA-256 and SCRAM-SHA-256-PLUS (RFC 5802, RFC 7677) as PostgreSQL uses them, for both sides.
//!
//! Each step of a side is a type. A step consumes the value of the step before it, so no step can be repeated or
//! skipped. The channel binding type is `tls-server-end-point` (RFC 5929), the only one that PostgreSQL supports.

pub mod client;
pub mod keys;
pub mod messages;
pub mod server;

pub use keys::{ScramKeys, ScramSecret};

/// The mechanism without channel binding.
pub const SCRAM_SHA_256: &str = "SCRAM-SHA-256";
/// The mechanism with channel binding.
pub const SCRAM_SHA_256_PLUS: &str = "SCRAM-SHA-256-PLUS";

/// The longest SCRAM message that is accepted from a peer.
///
/// An honest message has less than 300 characters: a nonce (24 characters for each side in PostgreSQL), a salt (24) or
/// channel binding data (under 128), and a proof (44). PostgreSQL reads up to 65,535 bytes.
pub const MESSAGE_BYTES_MAX: usize = 1024;
/// The longest nonce that is accepted from a peer. PostgreSQL's nonces and ours have 24 characters.
pub const NONCE_CHARACTERS_MAX: usize = 256;
/// The number of random bytes in our nonces, as in PostgreSQL. Their base64 text has 24 characters.
pub const NONCE_BYTES: usize = 18;
/// The number of random bytes in our salts, as in PostgreSQL.
pub const SALT_BYTES: usize = 16;
/// The default iteration count: PostgreSQL's default for `scram_iterations`.
pub const ITERATIONS_DEFAULT: u32 = 4096;
/// The default for the highest iteration count that we accept from a server.
///
/// The server chooses the count, and it may be hostile: 2^31-1 iterations take a core many minutes. 1,000,000
/// iterations take about a second at worst, and no published recommendation for PBKDF2 with SHA-256 is higher
/// (600,000).
pub const ITERATIONS_MAX_DEFAULT: u32 = 1_000_000;
/// The number of bytes of a SHA-256 sum, and so of every key, proof and signature.
pub const KEY_BYTES: usize = 32;

/// Why a SCRAM exchange failed. No variant holds a secret or text from the peer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScramError {
    /// A message is longer than [`MESSAGE_BYTES_MAX`].
    #[error("a SCRAM message of {bytes} bytes is above the limit of {MESSAGE_BYTES_MAX}")]
    MessageTooLong {
        /// The number of bytes.
        bytes: usize,
    },
    /// A message does not follow the grammar of RFC 5802.
    #[error("malformed SCRAM message: {0}")]
    Malformed(&'static str),
    /// The peer uses something from RFC 5802 that PostgreSQL does not support either.
    #[error("{0} is not supported")]
    Unsupported(&'static str),
    /// The client chose a mechanism that was not offered.
    #[error("the client chose a SASL mechanism that was not offered")]
    MechanismNotOffered,
    /// The server offers no supported mechanism.
    #[error(
        "the server offers no SASL mechanism that is supported (SCRAM-SHA-256 and SCRAM-SHA-256-PLUS are)"
    )]
    NoMechanism,
    /// The chosen mechanism and the channel binding flag of the message contradict each other.
    #[error("the chosen mechanism does not fit the channel binding flag of the SCRAM message")]
    BindingFlagMismatch,
    /// One side believes that the other does not support channel binding, but it does. Somebody in between may have
    /// changed the offer.
    #[error(
        "the client supports channel binding but saw no offer of it: somebody may have changed the messages on the way"
    )]
    Downgrade,
    /// The channel binding data differ: client and server are not the two ends of the same TLS connection.
    #[error("SCRAM channel binding check failed")]
    BindingMismatch,
    /// The peer did not send back the nonce that it got.
    #[error("the SCRAM nonce does not match")]
    NonceMismatch,
    /// The server asks for more iterations than the limit allows.
    #[error("the server asks for {asked} SCRAM iterations, above the limit of {max}")]
    TooManyIterations {
        /// The iteration count that the server asks for.
        asked: u32,
        /// The limit.
        max: u32,
    },
    /// The client's keys, with which we log in to the server, were derived with another salt or iteration count than
    /// the server's.
    #[error(
        "the SCRAM keys do not fit the server: its secret for the user has another salt or iteration count than \
         the one the client was checked against"
    )]
    KeysDoNotFit,
    /// The client's proof is wrong, so its password is wrong.
    #[error("the SCRAM proof is wrong")]
    WrongProof,
    /// The server's signature is wrong, so it does not know the user's secret.
    #[error("the server failed to prove that it knows the user's SCRAM secret")]
    WrongServerSignature,
    /// The server sent `e=...` in its last message.
    #[error("the server ended the SCRAM exchange with an error")]
    ServerRefused,
}
