//! Keys of SCRAM-SHA-256 and what is stored of them.

use std::fmt;
use std::num::NonZeroU32;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

use super::KEY_BYTES;
use crate::authentication::saslprep;

type Key = [u8; KEY_BYTES];

/// What is needed to log in to a server by SCRAM without the password, and to check that the server knows it too.
///
/// They are as secret as the password on every server whose secret has the same salt and iteration count.
#[derive(Clone)]
pub struct ScramKeys {
    client_key: Key,
    server_key: Key,
    salt: Vec<u8>,
    iterations: NonZeroU32,
}

/// What is stored for a user: enough to check a proof, not enough to make one.
#[derive(Clone)]
pub struct ScramSecret {
    iterations: NonZeroU32,
    salt: Vec<u8>,
    stored_key: Key,
    server_key: Key,
}

/// Derives a user's keys from the password. Slow on purpose: about 1 ms at 4,096 iterations, so callers may keep
/// the result by user, salt and iterations ([`ScramKeys::fit`]).
///
/// `password` as the user types it: SASLprep is applied here.
pub fn derive(password: &[u8], salt: &[u8], iterations: NonZeroU32) -> ScramKeys {
    let salted = salted_password(&saslprep(password), salt, iterations);
    ScramKeys {
        client_key: hmac(&*salted, &[b"Client Key"]),
        server_key: hmac(&*salted, &[b"Server Key"]),
        salt: salt.to_vec(),
        iterations,
    }
}

/// `Hi` of RFC 5802: PBKDF2 with HMAC-SHA-256 and one block of output.
fn salted_password(prepared: &[u8], salt: &[u8], iterations: NonZeroU32) -> Zeroizing<Key> {
    let keyed = keyed_hmac(prepared);
    let mut block: Key =
        keyed.clone().chain_update(salt).chain_update(1_u32.to_be_bytes()).finalize().into_bytes().into();
    let mut result = Zeroizing::new(block);
    for _ in 1..iterations.get() {
        block = keyed.clone().chain_update(block).finalize().into_bytes().into();
        xor_into(&mut result, &block);
    }
    block.zeroize();
    result
}

impl ScramKeys {
    /// The keys behind a client's proof. RFC 5802 has `ClientProof = ClientKey XOR ClientSignature`, and anyone who
    /// holds the secret can compute the signature.
    ///
    /// `None` when the proof is wrong.
    pub(super) fn from_proof(proof: &Key, secret: &ScramSecret, auth_message: &[&[u8]]) -> Option<Self> {
        let mut client_key = hmac(&secret.stored_key, auth_message);
        xor_into(&mut client_key, proof);
        let right: bool = sha256(&client_key).ct_eq(&secret.stored_key).into();
        right.then(|| Self {
            client_key,
            server_key: secret.server_key,
            salt: secret.salt.clone(),
            iterations: secret.iterations,
        })
    }

    /// Whether the keys were derived with this salt and iteration count.
    pub fn fit(&self, salt: &[u8], iterations: NonZeroU32) -> bool {
        self.salt == salt && self.iterations == iterations
    }

    /// The iteration count they were derived with.
    pub fn iterations(&self) -> NonZeroU32 {
        self.iterations
    }

    /// What a server stores of these keys.
    pub fn to_secret(&self) -> ScramSecret {
        ScramSecret {
            iterations: self.iterations,
            salt: self.salt.clone(),
            stored_key: sha256(&self.client_key),
            server_key: self.server_key,
        }
    }

    /// The client's proof for an exchange; the parts of `auth_message` are taken one after the other.
    pub(super) fn proof(&self, auth_message: &[&[u8]]) -> Key {
        let mut proof = hmac(&sha256(&self.client_key), auth_message);
        xor_into(&mut proof, &self.client_key);
        proof
    }

    /// Whether `signature` is the server's for an exchange, in constant time.
    pub(super) fn verify_server(&self, signature: &Key, auth_message: &[&[u8]]) -> bool {
        hmac(&self.server_key, auth_message).ct_eq(signature).into()
    }
}

impl Drop for ScramKeys {
    fn drop(&mut self) {
        self.client_key.zeroize();
        self.server_key.zeroize();
    }
}

impl fmt::Debug for ScramKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ScramKeys({} iterations, ..)", self.iterations)
    }
}

impl ScramSecret {
    /// Puts a secret together from its parts, read from storage.
    pub(crate) fn from_parts(
        iterations: NonZeroU32,
        salt: Vec<u8>,
        stored_key: Key,
        server_key: Key,
    ) -> Self {
        Self { iterations, salt, stored_key, server_key }
    }

    /// A secret that no password fits, for a user who does not exist. The salt is the same whenever `user` asks (as a
    /// real user's would be) and unpredictable without `mock_key`, as in PostgreSQL.
    pub fn mock(user: &str, mock_key: &[u8], iterations: NonZeroU32) -> Self {
        let salt = hmac(mock_key, &[b"salt", user.as_bytes()]);
        Self {
            iterations,
            salt: salt[..super::SALT_BYTES].to_vec(),
            stored_key: hmac(mock_key, &[b"stored key", user.as_bytes()]),
            server_key: hmac(mock_key, &[b"server key", user.as_bytes()]),
        }
    }

    /// The salt, raw.
    pub fn salt(&self) -> &[u8] {
        &self.salt
    }

    /// The iteration count.
    pub fn iterations(&self) -> NonZeroU32 {
        self.iterations
    }

    /// Whether this is what is stored of `keys`, in constant time.
    pub fn is_made_of(&self, keys: &ScramKeys) -> bool {
        sha256(&keys.client_key).ct_eq(&self.stored_key).into()
    }

    /// The server's signature for an exchange.
    pub(super) fn server_signature(&self, auth_message: &[&[u8]]) -> Key {
        hmac(&self.server_key, auth_message)
    }

    /// The form PostgreSQL keeps in `pg_authid.rolpassword`. As secret as its parts are.
    pub fn to_stored_form(&self) -> Zeroizing<String> {
        Zeroizing::new(format!(
            "SCRAM-SHA-256${}:{}${}:{}",
            self.iterations,
            STANDARD.encode(&self.salt),
            STANDARD.encode(self.stored_key),
            STANDARD.encode(self.server_key),
        ))
    }
}

impl Drop for ScramSecret {
    fn drop(&mut self) {
        self.stored_key.zeroize();
        self.server_key.zeroize();
    }
}

impl fmt::Debug for ScramSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ScramSecret({} iterations, ..)", self.iterations)
    }
}

fn keyed_hmac(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("HMAC takes a key of any length")
}

fn hmac(key: &[u8], parts: &[&[u8]]) -> Key {
    let mut mac = keyed_hmac(key);
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

fn sha256(bytes: &[u8]) -> Key {
    Sha256::digest(bytes).into()
}

fn xor_into(target: &mut Key, with: &Key) {
    for (byte, with) in target.iter_mut().zip(with) {
        *byte ^= with;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// PBKDF2-HMAC-SHA-256 of RFC 7914, section 11 (its first 32 bytes).
    #[test]
    fn salted_passwords_are_pbkdf2() {
        let one = salted_password(b"passwd", b"salt", NonZeroU32::MIN);
        assert_eq!(hex(&*one), "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc");
    }

    #[test]
    fn keys_fit_only_their_salt_and_iterations() {
        let two = NonZeroU32::MIN.saturating_add(1);
        let keys = derive(b"sesame", b"salt", two);
        assert!(keys.fit(b"salt", two));
        assert!(!keys.fit(b"salt", NonZeroU32::MIN));
        assert!(!keys.fit(b"pepper", two));
        assert!(keys.to_secret().is_made_of(&keys));
        assert!(!keys.to_secret().is_made_of(&derive(b"Sesame", b"salt", two)));
    }

    #[test]
    fn a_mock_is_steady_for_a_user_and_differs_between_users() {
        let mock = |user| ScramSecret::mock(user, b"key", NonZeroU32::MIN);
        assert_eq!(mock("alice").salt(), mock("alice").salt());
        assert_ne!(mock("alice").salt(), mock("bob").salt());
        assert_ne!(mock("alice").salt(), ScramSecret::mock("alice", b"other", NonZeroU32::MIN).salt());
    }

    #[test]
    fn debug_shows_no_key() {
        let keys = derive(b"sesame", b"salt", NonZeroU32::MIN);
        assert_eq!(
            format!("{keys:?} {:?}", keys.to_secret()),
            "ScramKeys(1 iterations, ..) ScramSecret(1 iterations, ..)"
        );
    }
}
