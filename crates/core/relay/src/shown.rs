//! Shortens names and reasons for log lines and error messages.

use std::borrow::Cow;

/// Bytes of a name that are shown. PostgreSQL's own names have no more.
const NAME_BYTES_MAX: usize = 63;

/// Bytes of a reason that are shown. A client may have chosen its text.
pub(crate) const REASON_BYTES_MAX: usize = 300;

/// The name of a database or user, cut to the length that names on a server have at most, because a client may have
/// invented it. The caller must escape it.
#[must_use]
pub fn shorten_name(name: &str) -> Cow<'_, str> {
    shorten(name, NAME_BYTES_MAX)
}

/// A text of which a peer may have chosen a part, cut after `bytes_max`.
pub(crate) fn shorten(text: &str, bytes_max: usize) -> Cow<'_, str> {
    if text.len() <= bytes_max {
        return Cow::Borrowed(text);
    }
    let end = (0..=bytes_max).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    Cow::Owned(format!("{}...", &text[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_longer_than_any_servers_are_cut() {
        let longest = "x".repeat(63);
        assert_eq!(shorten_name(&longest), longest);
        assert_eq!(shorten_name(&"x".repeat(9_000)), format!("{longest}..."));
        assert_eq!(shorten_name(&"\u{20ac}".repeat(22)), format!("{}...", "\u{20ac}".repeat(21)));
    }
}
