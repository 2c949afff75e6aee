//! The `password` method: the client sends its password as it is.

use std::num::NonZeroU32;

use super::scram::keys::{ScramKeys, derive};
use super::secret::Secret;
use super::{md5, scram};

/// What a checked clear text password gave.
#[derive(Debug)]
pub enum Verdict {
    /// The password is the user's. With a SCRAM secret, the keys that came from the check, fit for a pass-through.
    Right(Option<ScramKeys>),
    /// It is not.
    Wrong,
}

/// Checks a clear text password against what is stored for `user`.
///
/// With a SCRAM secret this derives keys, which is slow on purpose (about 1 ms at 4,096 iterations). An empty
/// password is always wrong, as in PostgreSQL, and so is one with a zero byte, which no message can carry (HMAC would
/// take `x` and `x\0` for the same key).
pub fn verify(user: &str, password: &[u8], stored: &Secret) -> Verdict {
    if password.is_empty() || password.contains(&0) {
        return Verdict::Wrong;
    }
    let right = match stored {
        Secret::Plain(expected) => expected.matches(password),
        Secret::Md5(expected) => expected.matches(&md5::hash_password(password, user.as_bytes())),
        Secret::Scram(secret) => return verify_scram(password, secret),
    };
    if right { Verdict::Right(None) } else { Verdict::Wrong }
}

fn verify_scram(password: &[u8], secret: &scram::ScramSecret) -> Verdict {
    let iterations: NonZeroU32 = secret.iterations();
    let keys = derive(password, secret.salt(), iterations);
    if secret.is_made_of(&keys) { Verdict::Right(Some(keys)) } else { Verdict::Wrong }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored_forms() -> [Secret; 3] {
        let keys = derive(b"sesame", b"0123456789abcdef", NonZeroU32::MIN.saturating_add(63));
        [
            Secret::Plain(super::super::Password::new("sesame")),
            Secret::Md5(md5::hash_password(b"sesame", b"alice")),
            Secret::Scram(keys.to_secret()),
        ]
    }

    #[test]
    fn the_right_password_passes_against_every_stored_form() {
        for stored in stored_forms() {
            assert!(matches!(verify("alice", b"sesame", &stored), Verdict::Right(_)));
        }
    }

    #[test]
    fn wrong_and_empty_passwords_fail_against_every_stored_form() {
        for stored in stored_forms() {
            for wrong in [&b""[..], b"Sesame", b"sesam", b"sesame\0", b"md5"] {
                assert!(matches!(verify("alice", wrong, &stored), Verdict::Wrong));
            }
        }
        let empty = Secret::Plain(super::super::Password::new(""));
        assert!(matches!(verify("alice", b"", &empty), Verdict::Wrong));
    }

    #[test]
    fn an_md5_secret_belongs_to_its_user() {
        let [_, stored, _] = stored_forms();
        assert!(matches!(verify("bob", b"sesame", &stored), Verdict::Wrong));
    }
}
