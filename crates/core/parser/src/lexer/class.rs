//! Two tables of 256 entries: which token a byte may begin, and which tokens it may be part of.
//!
//! The sets are those of chapter 4.1 of the manual. Any byte from 0x80 on counts as a letter, so the tables need no
//! knowledge of characters.

/// The kind of token that a byte begins.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Class {
    /// No token of SQL. PostgreSQL passes such a byte to its grammar, which refuses it.
    Other,
    Space,
    /// A letter, an underscore or a byte from 0x80 on, other than those of `Prefix`.
    Word,
    /// A letter that changes the meaning of a quote after it: b, e, n, u, x.
    Prefix,
    Digit,
    Quote,
    DoubleQuote,
    Dollar,
    Dot,
    Colon,
    /// A character that is always a token by itself: `,()[];`.
    Single,
    /// A character of operators.
    Operator,
}

/// May continue a word: letters, digits, underscore, dollar.
pub(crate) const WORD: u8 = 1;
/// May continue the tag of a dollar quote: as `WORD`, but without the dollar.
pub(crate) const TAG: u8 = 1 << 1;
/// May begin a word or a tag.
pub(crate) const WORD_START: u8 = 1 << 2;
pub(crate) const DIGIT: u8 = 1 << 3;
pub(crate) const HEX: u8 = 1 << 4;
pub(crate) const SPACE: u8 = 1 << 5;
/// May be part of an operator.
pub(crate) const OPERATOR: u8 = 1 << 6;
/// Not a character of operators in the SQL standard. An operator with such a character may end in `+` or `-`.
pub(crate) const UNUSUAL: u8 = 1 << 7;

pub(crate) static CLASS: [Class; 256] = classes();
pub(crate) static PART: [u8; 256] = parts();

/// Whether `byte` has at least one of the properties in `mask`.
#[inline]
pub(crate) fn is(byte: u8, mask: u8) -> bool {
    PART[usize::from(byte)] & mask != 0
}

/// The byte at `at`, or 0 after the end. The text itself contains no 0.
#[inline]
pub(crate) fn byte(text: &[u8], at: usize) -> u8 {
    text.get(at).copied().unwrap_or(0)
}

/// The end of the bytes with a property in `mask` that begin at `from`.
#[inline]
pub(crate) fn run_end(text: &[u8], from: usize, mask: u8) -> usize {
    let mut at = from;
    while at < text.len() && is(text[at], mask) {
        at += 1;
    }
    at
}

const fn classes() -> [Class; 256] {
    let mut table = [Class::Other; 256];
    let mut index = 0;
    while index < 256 {
        table[index] = class(index as u8);
        index += 1;
    }
    table
}

const fn class(byte: u8) -> Class {
    match byte {
        b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => Class::Space,
        b'b' | b'B' | b'e' | b'E' | b'n' | b'N' | b'u' | b'U' | b'x' | b'X' => Class::Prefix,
        b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => Class::Word,
        b'0'..=b'9' => Class::Digit,
        b'\'' => Class::Quote,
        b'"' => Class::DoubleQuote,
        b'$' => Class::Dollar,
        b'.' => Class::Dot,
        b':' => Class::Colon,
        b',' | b'(' | b')' | b'[' | b']' | b';' => Class::Single,
        _ if is_operator(byte) => Class::Operator,
        _ => Class::Other,
    }
}

const fn is_operator(byte: u8) -> bool {
    matches!(byte, b'+' | b'-' | b'*' | b'/' | b'<' | b'>' | b'=') || is_unusual(byte)
}

const fn is_unusual(byte: u8) -> bool {
    matches!(byte, b'~' | b'!' | b'@' | b'#' | b'%' | b'^' | b'&' | b'|' | b'`' | b'?')
}

const fn parts() -> [u8; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let byte = index as u8;
        let part = match class(byte) {
            Class::Word | Class::Prefix => WORD | TAG | WORD_START,
            Class::Digit => WORD | TAG | DIGIT,
            Class::Dollar => WORD,
            Class::Space => SPACE,
            Class::Operator if is_unusual(byte) => OPERATOR | UNUSUAL,
            Class::Operator => OPERATOR,
            _ => 0,
        };
        table[index] = if byte.is_ascii_hexdigit() { part | HEX } else { part };
        index += 1;
    }
    table
}
