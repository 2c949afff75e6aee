//! The secret that is stored for a user: in `pg_authid.rolpassword`, or as the second field in PgBouncer's
//! userlist.txt.

use std::num::NonZeroU32;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::md5::Md5Hash;
use super::password::Password;
use super::scram::{KEY_BYTES, ScramSecret};

/// The longest stored secret that is read. Tokens that serve as passwords have a few kilobytes; PostgreSQL reads no
/// password message above 65,535 bytes.
pub const SECRET_BYTES_MAX: usize = 65_535;
/// The longest salt in a stored SCRAM secret. PostgreSQL makes 16 bytes.
pub const SALT_BYTES_MAX: usize = 256;
/// The highest iteration count in a stored SCRAM secret. At this bound, the check of a clear text password takes
/// seconds.
pub const STORED_ITERATIONS_MAX: u32 = 10_000_000;

/// The prefix of every SCRAM secret.
const SCRAM_PREFIX: &[u8] = b"SCRAM-SHA-256$";

/// A stored secret.
#[derive(Debug, Clone)]
pub enum Secret {
    /// The password itself.
    Plain(Password),
    /// `md5` and 32 hex digits.
    Md5(Md5Hash),
    /// `SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey`.
    Scram(ScramSecret),
}

/// Why a stored secret cannot be used. The error holds no part of the secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// The secret is empty: the user cannot log in with a password.
    #[error("the password is empty: a user without a password cannot log in with one")]
    Empty,
    /// Above [`SECRET_BYTES_MAX`].
    #[error("the password has {bytes} bytes, above the limit of {SECRET_BYTES_MAX}")]
    TooLong {
        /// The number of bytes.
        bytes: usize,
    },
    /// The secret has a zero byte, which no protocol message can carry.
    #[error("the password has a zero byte")]
    ZeroByte,
    /// The secret begins like a SCRAM secret but is not valid.
    #[error(
        "the SCRAM secret is malformed ({0}); it must read SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey>, \
         as in pg_authid.rolpassword"
    )]
    MalformedScram(&'static str),
}

impl Secret {
    /// Reads a stored secret. As in PostgreSQL, its form shows its kind.
    ///
    /// There is one difference: a secret that begins like a SCRAM secret but is malformed is an error here. PostgreSQL
    /// treats it as a plain password. But nobody chooses such a password, so it is a mistake in a file.
    pub fn parse(stored: &[u8]) -> Result<Self, SecretError> {
        if stored.is_empty() {
            return Err(SecretError::Empty);
        }
        if stored.len() > SECRET_BYTES_MAX {
            return Err(SecretError::TooLong { bytes: stored.len() });
        }
        if stored.contains(&0) {
            return Err(SecretError::ZeroByte);
        }
        if let Some(parts) = stored.strip_prefix(SCRAM_PREFIX) {
            return parse_scram(parts).map(Self::Scram).map_err(SecretError::MalformedScram);
        }
        Ok(Md5Hash::parse(stored).map_or_else(|| Self::Plain(Password::new(stored)), Self::Md5))
    }
}

fn parse_scram(parts: &[u8]) -> Result<ScramSecret, &'static str> {
    let text = std::str::from_utf8(parts).map_err(|_| "not text")?;
    let (head, keys) = text.split_once('$').ok_or("second $ missing")?;
    let (iterations, salt) = head.split_once(':').ok_or("colon after the iterations missing")?;
    let (stored_key, server_key) = keys.split_once(':').ok_or("colon between the keys missing")?;
    if !iterations.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("iterations are not a number");
    }
    let iterations: NonZeroU32 = iterations.parse().map_err(|_| "iterations out of range")?;
    if iterations.get() > STORED_ITERATIONS_MAX {
        return Err("more than 10,000,000 iterations");
    }
    let salt = STANDARD.decode(salt).map_err(|_| "salt is not base64")?;
    if salt.is_empty() || salt.len() > SALT_BYTES_MAX {
        return Err("salt is empty or above 256 bytes");
    }
    Ok(ScramSecret::from_parts(iterations, salt, parse_key(stored_key)?, parse_key(server_key)?))
}

fn parse_key(base64: &str) -> Result<[u8; KEY_BYTES], &'static str> {
    let key = STANDARD.decode(base64).map_err(|_| "a key is not base64")?;
    key.try_into().map_err(|_| "a key is not of 32 bytes")
}

#[cfg(test)]
mod tests {
    use super::super::scram::keys::derive;
    use super::*;

    fn scram_text() -> String {
        let keys = derive(b"sesame", b"0123456789abcdef", NonZeroU32::MIN.saturating_add(1));
        keys.to_secret().to_stored_form().to_string()
    }

    #[test]
    fn each_kind_is_recognized_by_its_form() {
        assert!(matches!(Secret::parse(b"sesame"), Ok(Secret::Plain(_))));
        assert!(matches!(Secret::parse(b"md5sesame"), Ok(Secret::Plain(_))));
        assert!(matches!(Secret::parse(b"md50123456789abcdef0123456789abcdef"), Ok(Secret::Md5(_))));
        assert!(matches!(Secret::parse(scram_text().as_bytes()), Ok(Secret::Scram(_))));
    }

    #[test]
    fn a_scram_secret_is_written_and_read_back() {
        let Ok(Secret::Scram(secret)) = Secret::parse(scram_text().as_bytes()) else { panic!("not SCRAM") };
        assert_eq!(*secret.to_stored_form(), scram_text());
        assert_eq!(secret.salt(), b"0123456789abcdef");
        assert_eq!(secret.iterations().get(), 2);
        assert!(secret.belongs_to(&derive(b"sesame", secret.salt(), secret.iterations())));
    }

    /// Made with PostgreSQL 15.18: `CREATE ROLE ... PASSWORD '...'`, read from `pg_authid`.
    #[test]
    fn secrets_that_postgresql_stores_are_read() {
        let cases = [
            (
                "s\u{e9}same \u{2168}",
                "SCRAM-SHA-256$4096:Bs8RejNgrlnkXl57r3wjbw==$eDUZCqj/ZgwiIYmRbTO3dQOdYyGmExoZjlBzOTN1aK8=:\
                 3xlYZN9TBVhGrXRe2/i66H1XJj82krRZb4fjg6uijEM=",
            ),
            (
                "secret",
                "SCRAM-SHA-256$4096:jlO5cl3hR6jPeviwLvZDBg==$WiiTuG/YTrnxVPIQRy7Ova/ij0PYj24e14i4zYZD9s4=:\
                 HJklYqqmsUTsreBKJtivH5azB/XjtD8lN0KYkH/h5xA=",
            ),
        ];
        for (password, stored) in cases {
            let Ok(Secret::Scram(secret)) = Secret::parse(stored.as_bytes()) else { panic!("not SCRAM") };
            let keys = derive(password.as_bytes(), secret.salt(), secret.iterations());
            assert_eq!(*keys.to_secret().to_stored_form(), stored);
        }
    }

    #[test]
    fn malformed_scram_secrets_are_refused_with_a_reason() {
        let good = scram_text();
        let cases = [
            (String::from("SCRAM-SHA-256$"), "second $ missing"),
            (good.replace(':', ";"), "colon after the iterations missing"),
            (good.replace("$2:", "$0:"), "iterations out of range"),
            (good.replace("$2:", "$-2:"), "iterations are not a number"),
            (good.replace("$2:", "$99999999999:"), "iterations out of range"),
            (good.replace("$2:", "$10000001:"), "more than 10,000,000 iterations"),
            (good.replace("$2:", "$2:*"), "salt is not base64"),
            (format!("{}A", &good[..good.len() - 1]), "a key is not of 32 bytes"),
            (format!("{good}="), "a key is not base64"),
            (good[..good.len() - 44].to_owned(), "a key is not of 32 bytes"),
        ];
        for (text, expected) in cases {
            match Secret::parse(text.as_bytes()) {
                Err(SecretError::MalformedScram(reason)) => assert_eq!(reason, expected, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn empty_long_and_zero_bytes_are_refused() {
        assert_eq!(Secret::parse(b"").unwrap_err(), SecretError::Empty);
        assert_eq!(Secret::parse(b"a\0b").unwrap_err(), SecretError::ZeroByte);
        let long = vec![b'a'; SECRET_BYTES_MAX + 1];
        assert_eq!(Secret::parse(&long).unwrap_err(), SecretError::TooLong { bytes: 65_536 });
        assert!(Secret::parse(&long[1..]).is_ok());
    }

    #[test]
    fn debug_shows_no_secret() {
        for stored in ["sesame", "md50123456789abcdef0123456789abcdef", &scram_text()] {
            let shown = format!("{:?}", Secret::parse(stored.as_bytes()));
            assert!(shown.contains(".."), "{shown}");
            assert!(!shown.contains("sesame") && !shown.contains("0123456789abcdef"), "{shown}");
        }
    }
}
