//! Names as people are shown them.

use std::borrow::Cow;

/// Bytes of a name that are shown. PostgreSQL's own have no more.
const NAME_BYTES_MAX: usize = 63;

/// Bytes of a reason that are shown which a client may have chosen.
pub(crate) const REASON_BYTES_MAX: usize = 300;

/// A name of a database or user, cut where no server has one so long: a client may have made it up. What is in it is not
/// escaped: who writes it does that.
#[must_use]
pub fn in_short(name: &str) -> Cow<'_, str> {
    cut(name, NAME_BYTES_MAX)
}

/// A text of which peers may have chosen a part, cut after `bytes_max`.
pub(crate) fn cut(text: &str, bytes_max: usize) -> Cow<'_, str> {
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
    fn only_what_no_server_has_is_cut() {
        let longest = "x".repeat(63);
        assert_eq!(in_short(&longest), longest);
        assert_eq!(in_short(&"x".repeat(9_000)), format!("{longest}..."));
        assert_eq!(in_short(&"\u{20ac}".repeat(22)), format!("{}...", "\u{20ac}".repeat(21)));
    }
}
