//! The `md5` method: `md5(md5(password || user) || salt)`, each in lower-case hex, `md5` in front.

use std::fmt;

use md5::{Digest, Md5};
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

/// Length of the salt in AuthenticationMD5Password.
pub const SALT_BYTES: usize = 4;
/// Length of the hex text of one MD5 sum.
const HEX_BYTES: usize = 32;
/// The prefix of the hex text, both in storage and in messages.
const PREFIX: &[u8] = b"md5";
/// Length of the answer to a challenge, and of the stored form.
pub const ANSWER_BYTES: usize = PREFIX.len() + HEX_BYTES;

/// `md5(password || user)`. A client can log in with it alone, so it is as secret as the password.
#[derive(Clone)]
pub struct Md5Hash([u8; HEX_BYTES]);

impl Md5Hash {
    /// Reads the stored form: `md5` and 32 hex digits in lower case. Returns `None` for anything else, which PostgreSQL
    /// treats as a plain password.
    pub fn parse(stored: &[u8]) -> Option<Self> {
        let hex = stored.strip_prefix(PREFIX)?;
        if !hex.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')) {
            return None;
        }
        Some(Self(hex.try_into().ok()?))
    }

    /// The answer to a challenge with `salt`, for a PasswordMessage.
    pub fn answer(&self, salt: [u8; SALT_BYTES]) -> [u8; ANSWER_BYTES] {
        let mut answer = [0; ANSWER_BYTES];
        let (prefix, hex) = answer.split_at_mut(PREFIX.len());
        prefix.copy_from_slice(PREFIX);
        hex.copy_from_slice(&hex_sum(&self.0, &salt));
        answer
    }

    /// Whether `answer` is the correct answer to a challenge with `salt`. Takes constant time.
    pub fn verify(&self, salt: [u8; SALT_BYTES], answer: &[u8]) -> bool {
        self.answer(salt).as_slice().ct_eq(answer).into()
    }

    /// Whether both hashes are the same. Takes constant time.
    pub fn matches(&self, other: &Self) -> bool {
        self.0.as_slice().ct_eq(&other.0).into()
    }
}

impl Drop for Md5Hash {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for Md5Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Md5Hash(..)")
    }
}

/// The hash that PostgreSQL stores for a password under `password_encryption = md5`. The user name is the salt.
pub fn hash_password(password: &[u8], user: &[u8]) -> Md5Hash {
    Md5Hash(hex_sum(password, user))
}

fn hex_sum(first: &[u8], second: &[u8]) -> [u8; HEX_BYTES] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let sum = Md5::new().chain_update(first).chain_update(second).finalize();
    let mut hex = [0; HEX_BYTES];
    for (pair, byte) in hex.chunks_exact_mut(2).zip(sum) {
        pair.copy_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
    hex
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made with PostgreSQL 15: `SET password_encryption = md5; CREATE ROLE alice PASSWORD 'sesame'`.
    const STORED: &[u8] = b"md51a1403cdf37da2c74e920c31477e3b20";

    #[test]
    fn hashes_as_postgresql_stores_them() {
        let stored = Md5Hash::parse(STORED).expect("a stored form");
        assert!(stored.matches(&hash_password(b"sesame", b"alice")));
        assert!(!stored.matches(&hash_password(b"sesame", b"bob")));
    }

    #[test]
    fn a_challenge_is_answered_and_verified() {
        let hash = hash_password(b"sesame", b"alice");
        let answer = hash.answer([1, 2, 3, 4]);
        assert!(answer.starts_with(b"md5"));
        assert!(hash.verify([1, 2, 3, 4], &answer));
        assert!(!hash.verify([1, 2, 3, 5], &answer));
        assert!(!hash.verify([1, 2, 3, 4], &answer[..34]));
        assert!(!hash.verify([1, 2, 3, 4], b""));
    }

    #[test]
    fn only_the_stored_form_is_parsed() {
        assert!(Md5Hash::parse(&STORED[..34]).is_none());
        assert!(Md5Hash::parse(&[STORED, b"0"].concat()).is_none());
        assert!(Md5Hash::parse(b"md5zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz").is_none());
        let upper = [b"md5", STORED[3..].to_ascii_uppercase().as_slice()].concat();
        assert!(Md5Hash::parse(&upper).is_none());
    }
}
