//! The keys of SCRAM-SHA-256, and the secret that a server stores.

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

/// The keys of a user: enough to log in to a server by SCRAM without the password, and to check the server's signature.
///
/// On each server whose secret has the same salt and iteration count, the keys are as powerful as the password.
#[derive(Clone)]
pub struct ScramKeys {
    client_key: Key,
    server_key: Key,
    salt: Vec<u8>,
    iterations: NonZeroU32,
}

/// The secret that a server stores for a user: enough to check a proof, but not to make one.
#[derive(Clone)]
pub struct ScramSecret {
    iterations: NonZeroU32,
    salt: Vec<u8>,
    stored_key: Key,
    server_key: Key,
}

/// Derives a user's keys from the password. This is slow on purpose (about 1 ms at 4,096 iterations), so a caller may
/// keep the keys and ask [`ScramKeys::were_derived_with`] whether they can be used again.
///
/// `password` is the password as the user types it: this function applies SASLprep.
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
    /// Recovers the keys from a client's proof. In RFC 5802, `ClientProof = ClientKey XOR ClientSignature`, and the
    /// stored secret is enough to compute the signature.
    ///
    /// Returns `None` when the proof is wrong.
    pub(super) fn from_proof(proof: &Key, secret: &ScramSecret, auth_message: &[&[u8]]) -> Option<Self> {
        let mut client_key = hmac(&secret.stored_key, auth_message);
        xor_into(&mut client_key, proof);
        let is_correct: bool = sha256(&client_key).ct_eq(&secret.stored_key).into();
        is_correct.then(|| Self {
            client_key,
            server_key: secret.server_key,
            salt: secret.salt.clone(),
            iterations: secret.iterations,
        })
    }

    /// Whether the keys were derived with this salt and iteration count.
    pub fn were_derived_with(&self, salt: &[u8], iterations: NonZeroU32) -> bool {
        self.salt == salt && self.iterations == iterations
    }

    /// The iteration count with which the keys were derived.
    pub fn iterations(&self) -> NonZeroU32 {
        self.iterations
    }

    /// The secret that a server stores for these keys.
    pub fn to_secret(&self) -> ScramSecret {
        ScramSecret {
            iterations: self.iterations,
            salt: self.salt.clone(),
            stored_key: sha256(&self.client_key),
            server_key: self.server_key,
        }
    }

    /// The client's proof for an exchange. `auth_message` is given in parts, which are joined.
    pub(super) fn proof(&self, auth_message: &[&[u8]]) -> Key {
        let mut proof = hmac(&sha256(&self.client_key), auth_message);
        xor_into(&mut proof, &self.client_key);
        proof
    }

    /// Whether `signature` is the server's signature for an exchange. Takes constant time.
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
    /// Makes a secret from its stored parts.
    pub(crate) fn from_parts(
        iterations: NonZeroU32,
        salt: Vec<u8>,
        stored_key: Key,
        server_key: Key,
    ) -> Self {
        Self { iterations, salt, stored_key, server_key }
    }

    /// A secret for a user who does not exist: no password is correct for it. As in PostgreSQL, the salt is always the
    /// same for the same `user`, as a real user's salt is, and nobody can predict it without `mock_key`.
    pub fn mock(user: &str, mock_key: &[u8], iterations: NonZeroU32) -> Self {
        let salt = hmac(mock_key, &[b"salt", user.as_bytes()]);
        Self {
            iterations,
            salt: salt[..super::SALT_BYTES].to_vec(),
            stored_key: hmac(mock_key, &[b"stored key", user.as_bytes()]),
            server_key: hmac(mock_key, &[b"server key", user.as_bytes()]),
        }
    }

    /// The salt, not encoded.
    pub fn salt(&self) -> &[u8] {
        &self.salt
    }

    /// The iteration count.
    pub fn iterations(&self) -> NonZeroU32 {
        self.iterations
    }

    /// Whether this secret belongs to `keys`. Takes constant time.
    pub fn belongs_to(&self, keys: &ScramKeys) -> bool {
        sha256(&keys.client_key).ct_eq(&self.stored_key).into()
    }

    /// The server's signature for an exchange.
    pub(super) fn server_signature(&self, auth_message: &[&[u8]]) -> Key {
        hmac(&self.server_key, auth_message)
    }

    /// The secret in the form that PostgreSQL stores in `pg_authid.rolpassword`. Keep it secret.
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
    fn a_salted_password_is_pbkdf2() {
        let one = salted_password(b"passwd", b"salt", NonZeroU32::MIN);
        assert_eq!(hex(&*one), "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc");
    }

    #[test]
    fn keys_were_derived_with_one_salt_and_iteration_count() {
        let two = NonZeroU32::MIN.saturating_add(1);
        let keys = derive(b"sesame", b"salt", two);
        assert!(keys.were_derived_with(b"salt", two));
        assert!(!keys.were_derived_with(b"salt", NonZeroU32::MIN));
        assert!(!keys.were_derived_with(b"pepper", two));
        assert!(keys.to_secret().belongs_to(&keys));
        assert!(!keys.to_secret().belongs_to(&derive(b"Sesame", b"salt", two)));
    }

    #[test]
    fn a_mock_salt_is_constant_for_a_user_and_differs_between_users() {
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
