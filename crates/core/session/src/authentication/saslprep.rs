//! SASLprep (RFC 4013), with PostgreSQL's rule for passwords that SASLprep refuses.

use std::borrow::Cow;

/// Prepares a password for SCRAM.
///
/// As in PostgreSQL, an ASCII password is unchanged. SASLprep refuses a password that is not UTF-8, has a prohibited or
/// unassigned character, has text in both directions, or becomes empty. Such a password is used as raw bytes.
pub fn saslprep(password: &[u8]) -> Cow<'_, [u8]> {
    if password.is_ascii() {
        return Cow::Borrowed(password);
    }
    let Ok(text) = std::str::from_utf8(password) else { return Cow::Borrowed(password) };
    match stringprep::saslprep(text) {
        Ok(prepared) if !prepared.is_empty() => match prepared {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        },
        _ => Cow::Borrowed(password),
    }
}

#[cfg(test)]
mod tests {
    use super::saslprep;

    #[test]
    fn the_examples_of_rfc_4013() {
        assert_eq!(&*saslprep("I\u{AD}X".as_bytes()), b"IX");
        assert_eq!(&*saslprep(b"user"), b"user");
        assert_eq!(&*saslprep(b"USER"), b"USER");
        assert_eq!(&*saslprep("\u{AA}".as_bytes()), b"a");
        assert_eq!(&*saslprep("\u{2168}".as_bytes()), b"IX");
    }

    #[test]
    fn a_password_that_saslprep_refuses_is_used_raw() {
        for raw in ["\u{7}".as_bytes(), "\u{627}\u{31}".as_bytes(), b"\xff\xfe", "\u{AD}".as_bytes(), b""] {
            assert_eq!(&*saslprep(raw), raw);
        }
    }
}
