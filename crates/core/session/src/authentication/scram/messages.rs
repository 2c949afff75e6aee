//! Reads and checks the four SCRAM messages. Each side writes its messages itself.

use std::num::NonZeroU32;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::{KEY_BYTES, MESSAGE_BYTES_MAX, NONCE_CHARACTERS_MAX, ScramError};

/// The only supported channel binding type, by its name in the gs2 header.
pub const BINDING_TYPE: &str = "tls-server-end-point";

/// What the client says about channel binding in the gs2 header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BindingFlag {
    /// `n`: the client does not support channel binding.
    Unsupported,
    /// `y`: the client supports channel binding, and believes that the server does not.
    NotOffered,
    /// `p=tls-server-end-point`: the client uses channel binding.
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

/// `client-first-message`. Its user name is ignored, as in PostgreSQL: the user name of the start-up packet counts.
#[derive(Debug, PartialEq, Eq)]
pub struct ClientFirst<'a> {
    /// The channel binding flag.
    pub flag: BindingFlag,
    /// The client's nonce.
    pub nonce: &'a str,
    /// `client-first-message-bare`: the message after the gs2 header.
    pub bare: &'a str,
}

/// `server-first-message`.
#[derive(Debug, PartialEq, Eq)]
pub struct ServerFirst<'a> {
    /// The client's nonce, and the server's nonce after it.
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
    /// `e=`: the server ended the exchange with an error.
    Refused,
}

impl<'a> ClientFirst<'a> {
    /// Reads the message. Extensions after the nonce are ignored, but a mandatory extension is refused.
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
        let (attribute, after) = match rest.split_once(',') {
            Some((attribute, after)) => (attribute, Some(after)),
            None => (rest, None),
        };
        self.rest = after;
        Some(attribute)
    }

    fn expect(&mut self, name: char, problem: &'static str) -> Result<&'a str, ScramError> {
        self.next()
            .and_then(|attribute| attribute.strip_prefix(name))
            .and_then(|attribute| attribute.strip_prefix('='))
            .ok_or(ScramError::Malformed(problem))
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

/// A nonce consists of printable ASCII without commas. (Attributes were split at commas before.)
fn checked_nonce(nonce: &str) -> Result<&str, ScramError> {
    if nonce.is_empty() || nonce.len() > NONCE_CHARACTERS_MAX {
        return Err(ScramError::Malformed("nonce empty or too long"));
    }
    if !nonce.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(ScramError::Malformed("nonce has a character that is not printable"));
    }
    Ok(nonce)
}

fn decode(base64: &str, problem: &'static str) -> Result<Vec<u8>, ScramError> {
    STANDARD.decode(base64).map_err(|_| ScramError::Malformed(problem))
}

fn decode_key(base64: &str, problem: &'static str) -> Result<[u8; KEY_BYTES], ScramError> {
    decode(base64, problem)?.try_into().map_err(|_| ScramError::Malformed(problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_first_messages_of_every_form_are_read() {
        let parse = |text: &'static str| ClientFirst::parse(text.as_bytes());
        let expect = |flag, bare| Ok(ClientFirst { flag, nonce: "abc", bare });
        assert_eq!(parse("n,,n=,r=abc"), expect(BindingFlag::Unsupported, "n=,r=abc"));
        assert_eq!(parse("y,,n=bob,r=abc,x=1"), expect(BindingFlag::NotOffered, "n=bob,r=abc,x=1"));
        assert_eq!(parse("p=tls-server-end-point,,n=,r=abc"), expect(BindingFlag::Bound, "n=,r=abc"));
    }

    #[test]
    fn malformed_client_first_messages_are_refused() {
        for text in [
            "",
            "n",
            "n,",
            "n,,",
            "n,,n=",
            "n,,r=abc",
            "n,,n=,r=",
            "n,,n=,r=a b",
            "n,,n=,r=\u{e9}",
            "x,,n=,r=abc",
            "N,,n=,r=abc",
            "n,x,n=,r=abc",
            "n,,n=,r=abc,",
            "n,,n=,r=abc,1=2",
            "n,,n=,x=1,r=abc",
            "p,,n=,r=abc",
        ] {
            assert!(matches!(ClientFirst::parse(text.as_bytes()), Err(ScramError::Malformed(_))), "{text}");
        }
        for text in ["n,a=bob,n=,r=abc", "n,,m=ext,n=,r=abc", "p=tls-unique,,n=,r=abc", "p=,,n=,r=abc"] {
            assert!(matches!(ClientFirst::parse(text.as_bytes()), Err(ScramError::Unsupported(_))), "{text}");
        }
        assert!(ClientFirst::parse(b"n,,n=\xff,r=abc").is_err());
        assert!(ClientFirst::parse(b"n,,n=,r=abc\0").is_err());
    }

    #[test]
    fn long_messages_and_nonces_are_refused() {
        let with_nonce = |characters: usize| format!("n,,n=,r={}", "a".repeat(characters));
        assert!(ClientFirst::parse(with_nonce(NONCE_CHARACTERS_MAX).as_bytes()).is_ok());
        assert!(ClientFirst::parse(with_nonce(NONCE_CHARACTERS_MAX + 1).as_bytes()).is_err());
        let long = vec![b'a'; MESSAGE_BYTES_MAX + 1];
        let expected = ScramError::MessageTooLong { bytes: long.len() };
        assert_eq!(ClientFirst::parse(&long), Err(expected.clone()));
        assert_eq!(ServerFirst::parse(&long), Err(expected.clone()));
        assert_eq!(ClientFinal::parse(&long).err(), Some(expected.clone()));
        assert_eq!(ServerFinal::parse(&long).err(), Some(expected));
    }

    #[test]
    fn malformed_server_first_messages_are_refused() {
        assert!(ServerFirst::parse(b"r=abc,s=AAAA,i=4096,x=1").is_ok());
        for text in [
            "",
            "r=abc",
            "r=abc,s=AAAA",
            "r=abc,s=*,i=1",
            "r=abc,s=AAAA,i=0",
            "r=abc,s=AAAA,i=-1",
            "r=abc,s=AAAA,i=+1",
            "r=abc,s=AAAA,i=",
            "r=abc,s=AAAA,i=4294967296",
            "s=AAAA,r=abc,i=1",
            "r=abc,s=AAAA,i=1,",
            "r=,s=AAAA,i=1",
        ] {
            assert!(matches!(ServerFirst::parse(text.as_bytes()), Err(ScramError::Malformed(_))), "{text}");
        }
        assert!(matches!(ServerFirst::parse(b"m=x,r=abc,s=AAAA,i=1"), Err(ScramError::Unsupported(_))));
    }

    #[test]
    fn malformed_client_final_messages_are_refused() {
        let key = STANDARD.encode([7; KEY_BYTES]);
        let good = format!("c=biws,r=abc,x=1,p={key}");
        let parsed = ClientFinal::parse(good.as_bytes()).expect("well formed");
        assert_eq!((parsed.binding.as_slice(), parsed.nonce), (&b"n,,"[..], "abc"));
        assert_eq!((parsed.proof, parsed.without_proof), ([7; KEY_BYTES], "c=biws,r=abc,x=1"));
        for text in [
            String::new(),
            String::from("c=biws,r=abc"),
            format!("r=abc,p={key}"),
            format!("c=*,r=abc,p={key}"),
            format!("c=biws,p={key}"),
            format!("c=biws,r=abc,p={key}AAAA"),
            format!("c=biws,r=abc,p={key},x=1"),
            String::from("c=biws,r=abc,p="),
        ] {
            assert!(
                ClientFinal::parse(text.as_bytes())
                    .is_err_and(|error| matches!(error, ScramError::Malformed(_)))
            );
        }
    }
}
