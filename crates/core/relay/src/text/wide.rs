//! Texts in encodings in which a part of a longer character may be an ASCII byte.

use std::borrow::Cow;

/// Replaces ASCII bytes that are only a part of a character. In SJIS, for example, the second byte of U+8868 is a
/// backslash.
///
/// PostgreSQL converts a text to the server's encoding before it parses it. We look only for words and quotes in ASCII,
/// so it is enough to hide the other bytes. The lengths of characters are those of wchar.c.
pub(super) fn hide_trail_bytes<'a>(text: &'a [u8], client_encoding: Option<&str>) -> Cow<'a, [u8]> {
    let Some(length) = length_of_characters(client_encoding) else { return Cow::Borrowed(text) };
    let mut hidden = Cow::Borrowed(text);
    let mut at = 0;
    while let Some(next) = text[at..].iter().position(|byte| !byte.is_ascii()) {
        let first = at + next;
        at = (first + length(&text[first..])).min(text.len());
        hidden.to_mut()[first..at].iter_mut().for_each(|byte| *byte |= 0x80);
    }
    hidden
}

/// Whether a part of a longer character of the encoding may be an ASCII byte.
pub(super) fn has_ascii_inside(client_encoding: Option<&str>) -> bool {
    length_of_characters(client_encoding).is_some()
}

/// A function that returns the length of the character at the beginning of a slice. The first byte is not ASCII. `None` for
/// encodings in which no part of a longer character is ASCII.
fn length_of_characters(client_encoding: Option<&str>) -> Option<fn(&[u8]) -> usize> {
    Some(match client_encoding? {
        "SJIS" | "SHIFT_JIS_2004" => |at| if matches!(at[0], 0xa1..=0xdf) { 1 } else { 2 },
        "BIG5" | "GBK" | "UHC" => |_| 2,
        "JOHAB" => |at| if at[0] == 0x8f { 3 } else { 2 },
        "GB18030" => |at| if at.get(1).is_some_and(u8::is_ascii_digit) { 4 } else { 2 },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_bytes_within_characters_are_hidden() {
        for (encoding, text, hidden) in [
            ("SJIS", &b"'\x95\\' \xb1\\"[..], &b"'\x95\xdc' \xb1\\"[..]),
            ("BIG5", b"\xa5\\'\xa5", b"\xa5\xdc'\xa5"),
            ("JOHAB", b"\x8f12'\x8812", b"\x8f\xb1\xb2'\x88\xb12"),
            ("GB18030", b"\x8130\x81'\x81@'", b"\x81\xb3\xb0\x81'\x81\xc0'"),
            ("UTF8", b"\xc3\xa9\\'", b"\xc3\xa9\\'"),
            ("GBK", b"select '\\'", b"select '\\'"),
        ] {
            assert_eq!(hide_trail_bytes(text, Some(encoding)), hidden, "{encoding}");
        }
        assert_eq!(&*hide_trail_bytes(b"\x95\\", None), b"\x95\\");
    }
}
