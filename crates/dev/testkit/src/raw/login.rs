//! A client's answers to the server's authentication requests.

use anyhow::{Context, Result, bail, ensure};
use base64::{Engine, prelude::BASE64_STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use sha2::{Digest, Sha256};

use super::{Frame, Messages};

/// The mechanism a raw client speaks.
const MECHANISM: &str = "SCRAM-SHA-256";
/// GS2 header: no channel binding, no authorization identity.
const GS2_HEADER: &str = "n,,";
/// A fixed nonce is enough, because a raw client logs in to test servers only.
const CLIENT_NONCE: &str = "trunkline+testkit+nonce+0";

/// The state of one login.
#[derive(Debug)]
pub(super) struct Login<'a> {
    user: &'a str,
    password: &'a str,
    /// Set between the first SCRAM message and the server's final one.
    auth_message: String,
    server_signature: Vec<u8>,
}

impl<'a> Login<'a> {
    pub(super) fn new(user: &'a str, password: &'a str) -> Self {
        Self { user, password, auth_message: String::new(), server_signature: Vec::new() }
    }

    /// The answer to an Authentication message; `None` if it needs none.
    pub(super) fn answer(&mut self, request: &Frame) -> Result<Option<Messages>> {
        let (code, rest) =
            request.body.split_first_chunk::<4>().context("an empty authentication message")?;
        match u32::from_be_bytes(*code) {
            0 => Ok(None),
            3 => Ok(Some(Messages::new().password(self.password))),
            5 => Ok(Some(Messages::new().password(&self.md5(rest)))),
            10 => self.scram_first(rest).map(Some),
            11 => self.scram_final(rest).map(Some),
            12 => self.scram_check(rest).map(|()| None),
            other => bail!("the server asks for authentication {other}, which a raw client cannot do"),
        }
    }

    /// `md5` and the digest of digest(password, user) and salt.
    fn md5(&self, salt: &[u8]) -> String {
        let inner = hex(&Md5::new().chain_update(self.password).chain_update(self.user).finalize());
        format!("md5{}", hex(&Md5::new().chain_update(inner).chain_update(salt).finalize()))
    }

    fn scram_first(&mut self, mechanisms: &[u8]) -> Result<Messages> {
        let offered = mechanisms.split(|byte| *byte == 0).any(|name| name == MECHANISM.as_bytes());
        ensure!(offered, "the server does not offer {MECHANISM}");
        // PostgreSQL takes the user's name from the start-up packet and ignores this one.
        let bare = format!("n=,r={CLIENT_NONCE}");
        let first = format!("{GS2_HEADER}{bare}");
        self.auth_message = bare;
        let mut body = MECHANISM.as_bytes().to_vec();
        body.push(0);
        body.extend(u32::try_from(first.len())?.to_be_bytes());
        body.extend(first.as_bytes());
        Ok(Messages::new().message(b'p', &body))
    }

    fn scram_final(&mut self, challenge: &[u8]) -> Result<Messages> {
        let challenge = std::str::from_utf8(challenge).context("a SCRAM challenge is no text")?;
        let nonce = attribute(challenge, "r=")?;
        ensure!(nonce.starts_with(CLIENT_NONCE), "the server's nonce does not extend ours");
        let salt = BASE64_STANDARD.decode(attribute(challenge, "s=")?).context("salt")?;
        let rounds: u32 = attribute(challenge, "i=")?.parse().context("iteration count")?;
        let without_proof = format!("c={},r={nonce}", BASE64_STANDARD.encode(GS2_HEADER));
        self.auth_message = format!("{},{challenge},{without_proof}", self.auth_message);

        let mut salted = [0_u8; 32];
        pbkdf2::pbkdf2_hmac::<Sha256>(self.password.as_bytes(), &salt, rounds, &mut salted);
        let client_key = hmac(&salted, b"Client Key")?;
        let signature = hmac(&Sha256::digest(&client_key), self.auth_message.as_bytes())?;
        let proof: Vec<u8> = client_key.iter().zip(&signature).map(|(key, sign)| key ^ sign).collect();
        self.server_signature = hmac(&hmac(&salted, b"Server Key")?, self.auth_message.as_bytes())?;
        let last = format!("{without_proof},p={}", BASE64_STANDARD.encode(proof));
        Ok(Messages::new().message(b'p', last.as_bytes()))
    }

    fn scram_check(&self, last: &[u8]) -> Result<()> {
        let last = std::str::from_utf8(last).context("a SCRAM final message is no text")?;
        let signature = BASE64_STANDARD.decode(attribute(last, "v=")?).context("server signature")?;
        ensure!(signature == self.server_signature, "the server does not know the password itself");
        Ok(())
    }
}

/// The value of one attribute of a SCRAM message.
fn attribute<'m>(message: &'m str, name: &str) -> Result<&'m str> {
    let found = message.split(',').find_map(|part| part.strip_prefix(name));
    found.with_context(|| format!("SCRAM message {message:?} lacks {name}"))
}

fn hmac(key: &[u8], message: &[u8]) -> Result<Vec<u8>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).context("HMAC key")?;
    mac.update(message);
    Ok(mac.finalize().into_bytes().to_vec())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
