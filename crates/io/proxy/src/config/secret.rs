//! A text that must not be seen: passwords, verifiers, the password inside a URL.

use std::fmt;

/// A secret text. `Debug` and `Display` show `***`; only [`Secret::expose`] gives the text away,
/// so that every place that does can be found by its name.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Secret(Box<str>);

impl Secret {
    /// Wraps `text`.
    pub fn new(text: impl Into<Box<str>>) -> Self {
        Self(text.into())
    }

    /// The text itself.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// How the password is stored: plain, as PostgreSQL's md5 hash, or as a SCRAM verifier.
    pub fn form(&self) -> SecretForm {
        let hex = |text: &str| text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if self.0.starts_with("SCRAM-SHA-256$") {
            SecretForm::ScramVerifier
        } else if self.0.strip_prefix("md5").is_some_and(hex) {
            SecretForm::Md5
        } else {
            SecretForm::Plain
        }
    }
}

/// How a stored password is written, told from its text as PostgreSQL tells it (`get_password_type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretForm {
    /// The password as typed.
    Plain,
    /// `md5` and 32 hexadecimal digits.
    Md5,
    /// `SCRAM-SHA-256$<iterations>:<salt>$<stored key>:<server key>`.
    ScramVerifier,
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_debug_nor_display_shows_the_text() {
        let secret = Secret::new("hunter2");
        assert_eq!(format!("{secret} {secret:?} {:?}", Some(&secret)), "*** *** Some(***)");
        assert_eq!(secret.expose(), "hunter2");
    }

    #[test]
    fn forms_are_told_apart_as_postgresql_does() {
        assert_eq!(Secret::new("md5").form(), SecretForm::Plain);
        assert_eq!(Secret::new("md5of-something-that-is-no-hash....").form(), SecretForm::Plain);
        assert_eq!(Secret::new("md500112233445566778899aabbccddeeff").form(), SecretForm::Md5);
        assert_eq!(Secret::new("SCRAM-SHA-256$4096:c2FsdA==$a:b").form(), SecretForm::ScramVerifier);
    }
}
