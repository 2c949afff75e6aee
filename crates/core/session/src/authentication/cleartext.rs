//! The `password` method: the client sends its password in clear text.

use std::num::NonZeroU32;

use super::scram::keys::{ScramKeys, derive};
use super::secret::Secret;
use super::{md5, scram};

/// The result of checking a clear text password.
#[derive(Debug)]
pub enum Verdict {
    /// The password is correct. If the stored secret is a SCRAM secret, the check has derived keys: with them we can
    /// log in to a server as this user.
    Correct(Option<ScramKeys>),
    /// The password is wrong.
    Wrong,
}

/// Checks a clear text password against what is stored for `user`.
///
/// With a SCRAM secret this derives keys, which is slow on purpose (about 1 ms at 4,096 iterations). An empty
/// password is always wrong, as in PostgreSQL. A password with a zero byte is wrong too: no message can carry one, and
/// HMAC would treat `x` and `x\0` as the same key.
pub fn verify(user: &str, password: &[u8], stored: &Secret) -> Verdict {
    if password.is_empty() || password.contains(&0) {
        return Verdict::Wrong;
    }
    let is_correct = match stored {
        Secret::Plain(expected) => expected.matches(password),
        Secret::Md5(expected) => expected.matches(&md5::hash_password(password, user.as_bytes())),
        Secret::Scram(secret) => return verify_scram(password, secret),
    };
    if is_correct { Verdict::Correct(None) } else { Verdict::Wrong }
}

fn verify_scram(password: &[u8], secret: &scram::ScramSecret) -> Verdict {
    let iterations: NonZeroU32 = secret.iterations();
    let keys = derive(password, secret.salt(), iterations);
    if secret.belongs_to(&keys) { Verdict::Correct(Some(keys)) } else { Verdict::Wrong }
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
    fn the_correct_password_passes_against_every_stored_form() {
        for stored in stored_forms() {
            assert!(matches!(verify("alice", b"sesame", &stored), Verdict::Correct(_)));
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
