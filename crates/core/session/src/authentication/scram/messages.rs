//! The four SCRAM messages, read and checked; writing them is the sides' own business.

use std::num::NonZeroU32;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::{KEY_BYTES, MESSAGE_BYTES_MAX, NONCE_CHARACTERS_MAX, ScramError};

/// The only channel binding type, as the gs2 header names it.
pub const BINDING_TYPE: &str = "tls-server-end-point";

/// What the client says about channel binding in the gs2 header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BindingFlag {
    /// `n`: the client does not support it.
    Unsupported,
    /// `y`: the client supports it and believes that the server does not.
    NotOffered,
    /// `p=tls-server-end-point`: the client binds.
    Bound,
}

impl BindingFlag {
    /// The gs2 header with this flag and no authorization identity.
    pub fn gs2_header(self) -> &'static str {
        match self {
            Self::Unsupported => "n,,",
            Self::NotOffered => "y,,",
            Self::Bound => "p=tls-server-end-point,,",
        }
    }
}

/// `client-first-message`. The user name in it is ignored, as PostgreSQL does: the start-up packet's counts.
#[derive(Debug, PartialEq, Eq)]
pub struct ClientFirst<'a> {
    /// The channel binding flag.
    pub flag: BindingFlag,
    /// The client's nonce.
    pub nonce: &'a str,
    /// `client-first-message-bare`: what is behind the gs2 header.
    pub bare: &'a str,
}

/// `server-first-message`.
#[derive(Debug, PartialEq, Eq)]
pub struct ServerFirst<'a> {
    /// The client's nonce with the server's behind it.
    pub nonce: &'a str,
    /// The salt, decoded.
    pub salt: Vec<u8>,
    /// The iteration count.
    pub iterations: NonZeroU32,
}

/// `client-final-message`.
#[derive(PartialEq, Eq)]
pub struct ClientFinal<'a> {
    /// The gs2 header and the channel binding data, decoded.
    pub binding: Vec<u8>,
    /// Both nonces.
    pub nonce: &'a str,
    /// The proof.
    pub proof: [u8; KEY_BYTES],
    /// `client-final-message-without-proof`.
    pub without_proof: &'a str,
}

/// `server-final-message`.
#[derive(PartialEq, Eq)]
pub enum ServerFinal {
    /// `v=`: the server's signature.
    Signature([u8; KEY_BYTES]),
    /// `e=`: the server gives up.
    Refused,
}

impl<'a> ClientFirst<'a> {
    /// Reads the message; extensions behind the nonce are ignored, mandatory ones refused.
    pub fn parse(message: &'a [u8]) -> Result<Self, ScramError> {
        let text = checked_text(message)?;
        let (flag, rest) = text.split_once(',').ok_or(ScramError::Malformed("no gs2 header"))?;
        let flag = match flag {
            "n" => BindingFlag::Unsupported,
            "y" => BindingFlag::NotOffered,
            _ => match flag.strip_prefix("p=") {
                Some(BINDING_TYPE) => BindingFlag::Bound,
                Some(_) => return Err(ScramError::Unsupported("this channel binding type")),
                None => return Err(ScramError::Malformed("unknown channel binding flag")),
            },
        };
        let (identity, bare) = rest.split_once(',').ok_or(ScramError::Malformed("gs2 header not ended"))?;
        if identity.starts_with("a=") {
            return Err(ScramError::Unsupported("an authorization identity"));
        }
        if !identity.is_empty() {
            return Err(ScramError::Malformed("unexpected attribute in the gs2 header"));
        }
        if bare.starts_with("m=") {
            return Err(ScramError::Unsupported("a mandatory SCRAM extension"));
        }
        let mut attributes = Attributes::new(bare);
        attributes.expect('n', "user name expected")?;
        let nonce = checked_nonce(attributes.expect('r', "nonce expected")?)?;
        attributes.skip_extensions()?;
        Ok(Self { flag, nonce, bare })
    }
}

impl<'a> ServerFirst<'a> {
    /// Reads the message.
    pub fn parse(message: &'a [u8]) -> Result<Self, ScramError> {
        let text = checked_text(message)?;
        if text.starts_with("m=") {
            return Err(ScramError::Unsupported("a mandatory SCRAM extension"));
        }
        let mut attributes = Attributes::new(text);
        let nonce = checked_nonce(attributes.expect('r', "nonce expected")?)?;
        let salt = decode(attributes.expect('s', "salt expected")?, "salt is not base64")?;
        let iterations = attributes.expect('i', "iteration count expected")?;
        if !iterations.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(ScramError::Malformed("iteration count is not a number"));
        }
        let iterations =
            iterations.parse().map_err(|_| ScramError::Malformed("iteration count out of range"))?;
        attributes.skip_extensions()?;
        Ok(Self { nonce, salt, iterations })
    }
}

impl<'a> ClientFinal<'a> {
    /// Reads the message.
    pub fn parse(message: &'a [u8]) -> Result<Self, ScramError> {
        let text = checked_text(message)?;
        let (without_proof, proof) =
            text.rsplit_once(",p=").ok_or(ScramError::Malformed("proof expected at the end"))?;
        let mut attributes = Attributes::new(without_proof);
        let binding =
            decode(attributes.expect('c', "channel binding expected")?, "channel binding is not base64")?;
        let nonce = checked_nonce(attributes.expect('r', "nonce expected")?)?;
        attributes.skip_extensions()?;
        Ok(Self {
            binding,
            nonce,
            proof: decode_key(proof, "proof is not 32 bytes of base64")?,
            without_proof,
        })
    }
}

impl ServerFinal {
    /// Reads the message.
    pub fn parse(message: &[u8]) -> Result<Self, ScramError> {
        let text = checked_text(message)?;
        let mut attributes = Attributes::new(text);
        if text.starts_with("e=") {
            return Ok(Self::Refused);
        }
        let signature = attributes.expect('v', "server signature expected")?;
        let signature = decode_key(signature, "server signature is not 32 bytes of base64")?;
        attributes.skip_extensions()?;
        Ok(Self::Signature(signature))
    }
}

/// `name=value` pairs with commas between them.
struct Attributes<'a> {
    rest: Option<&'a str>,
}

impl<'a> Attributes<'a> {
    fn new(text: &'a str) -> Self {
        Self { rest: Some(text) }
    }

    fn next(&mut self) -> Option<&'a str> {
        let rest = self.rest?;
        let (attribute, behind) = match rest.split_once(',') {
            Some((attribute, behind)) => (attribute, Some(behind)),
            None => (rest, None),
        };
        self.rest = behind;
        Some(attribute)
    }

    fn expect(&mut self, name: char, otherwise: &'static str) -> Result<&'a str, ScramError> {
        self.next()
            .and_then(|attribute| attribute.strip_prefix(name))
            .and_then(|attribute| attribute.strip_prefix('='))
            .ok_or(ScramError::Malformed(otherwise))
    }

    fn skip_extensions(&mut self) -> Result<(), ScramError> {
        while let Some(attribute) = self.next() {
            match attribute.as_bytes() {
                [name, b'=', ..] if name.is_ascii_alphabetic() => {}
                _ => return Err(ScramError::Malformed("attribute expected")),
            }
        }
        Ok(())
    }
}

fn checked_text(message: &[u8]) -> Result<&str, ScramError> {
    if message.len() > MESSAGE_BYTES_MAX {
        return Err(ScramError::MessageTooLong { bytes: message.len() });
    }
    if message.contains(&0) {
        return Err(ScramError::Malformed("zero byte"));
    }
    std::str::from_utf8(message).map_err(|_| ScramError::Malformed("not UTF-8"))
}

/// A nonce is of printable ASCII without comma (the attributes are split at commas already).
fn checked_nonce(nonce: &str) -> Result<&str, ScramError> {
    if nonce.is_empty() || nonce.len() > NONCE_CHARACTERS_MAX {
        return Err(ScramError::Malformed("nonce empty or too long"));
    }
    if !nonce.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(ScramError::Malformed("nonce has a character that is not printable"));
    }
    Ok(nonce)
}

fn decode(base64: &str, otherwise: &'static str) -> Result<Vec<u8>, ScramError> {
    STANDARD.decode(base64).map_err(|_| ScramError::Malformed(otherwise))
}

fn decode_key(base64: &str, otherwise: &'static str) -> Result<[u8; KEY_BYTES], ScramError> {
    decode(base64, otherwise)?.try_into().map_err(|_| ScramError::Malformed(otherwise))
}
