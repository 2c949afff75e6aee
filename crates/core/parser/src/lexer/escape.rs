//! Reads `E'...'`, strings with backslash escapes.
//!
//! The lexer does not need the value of a string. But it must refuse what PostgreSQL refuses: halves of surrogate
//! pairs, code points that do not exist, and escapes that give invalid UTF-8.

use super::class::{HEX, byte, is};
use super::error::{LexError, LexErrorKind};
use super::string::continuation;
use super::{Lexer, at_u32};
use memchr::memchr2;

/// The largest code point.
const CODE_POINT_MAX: u32 = 0x10_ffff;

/// An escape: its number of bytes and its value.
struct Escape {
    length: usize,
    value: Value,
}

enum Value {
    /// One byte, given by a number or by a letter.
    Byte(u8),
    /// A code point, given by `\u` or `\U`.
    CodePoint(u32),
    /// `\u` or `\U` with too few digits.
    Incomplete,
    /// A backslash at the end of the text.
    Nothing,
}

/// The escape whose backslash is at `at`.
fn escape(text: &[u8], at: usize) -> Escape {
    match byte(text, at + 1) {
        0 => Escape { length: 1, value: Value::Nothing },
        b'u' => unicode(text, at, 4),
        b'U' => unicode(text, at, 8),
        b'x' if is(byte(text, at + 2), HEX) => {
            let (value, digits) = number(text, at + 2, 2, 16);
            Escape { length: 2 + digits, value: Value::Byte(value as u8) }
        }
        b'0'..=b'7' => {
            let (value, digits) = number(text, at + 1, 3, 8);
            // In PostgreSQL, \400 and above wrap around.
            Escape { length: 1 + digits, value: Value::Byte(value as u8) }
        }
        letter => Escape { length: 2, value: Value::Byte(letter_value(letter)) },
    }
}

fn letter_value(letter: u8) -> u8 {
    match letter {
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0b,
        other => other,
    }
}

fn unicode(text: &[u8], at: usize, wanted: usize) -> Escape {
    let (value, digits) = number(text, at + 2, wanted, 16);
    let value = if digits == wanted { Value::CodePoint(value) } else { Value::Incomplete };
    Escape { length: 2 + digits, value }
}

/// The number with at most `most` digits from `from` on, and its number of digits.
fn number(text: &[u8], from: usize, most: usize, radix: u32) -> (u32, usize) {
    let mut value = 0_u32;
    let mut digits = 0;
    while digits < most {
        let Some(digit) = char::from(byte(text, from + digits)).to_digit(radix) else { break };
        value = value.wrapping_mul(radix).wrapping_add(digit);
        digits += 1;
    }
    (value, digits)
}

fn is_first_surrogate(value: u32) -> bool {
    (0xd800..0xdc00).contains(&value)
}

fn is_second_surrogate(value: u32) -> bool {
    (0xdc00..0xe000).contains(&value)
}

impl Lexer<'_> {
    /// Reads a string with escapes. Its token begins at `start`, its text at `from`.
    pub(super) fn escape_string(&mut self, start: usize, from: usize) -> Result<(), LexError> {
        let mut at = from;
        let mut suspect = false;
        loop {
            let rest = self.text.get(at..).unwrap_or_default();
            let Some(found) = memchr2(b'\'', b'\\', rest) else {
                return Err(self.error(LexErrorKind::UnterminatedString, start, self.text.len()));
            };
            at += found;
            if byte(self.text, at) == b'\\' {
                at = self.one_escape(at, &mut suspect)?;
                continue;
            }
            at += 1;
            if byte(self.text, at) == b'\'' {
                at += 1;
                continue;
            }
            match continuation(self.text, at) {
                Some(next) => at = next,
                None => break,
            }
        }
        self.at = at;
        if suspect { self.check_value(start, from, at) } else { Ok(()) }
    }

    /// The end of the escape at `at`. If it is the first half of a surrogate pair, the second half is included.
    fn one_escape(&self, at: usize, suspect: &mut bool) -> Result<usize, LexError> {
        let found = escape(self.text, at);
        let end = at + found.length;
        match found.value {
            Value::Byte(value) => *suspect |= value == 0 || value >= 0x80,
            Value::Nothing => {}
            Value::Incomplete => return Err(self.error(LexErrorKind::UnicodeEscape, at, end)),
            Value::CodePoint(value) if is_first_surrogate(value) => return self.second_half(end),
            Value::CodePoint(value) if is_second_surrogate(value) => {
                return Err(self.error(LexErrorKind::SurrogatePair, at, end));
            }
            Value::CodePoint(value) if value == 0 || value > CODE_POINT_MAX => {
                return Err(self.error(LexErrorKind::UnicodeValue, at, end));
            }
            Value::CodePoint(_) => {}
        }
        Ok(end)
    }

    /// The end of the second half of a surrogate pair, which must be at `at`.
    fn second_half(&self, at: usize) -> Result<usize, LexError> {
        if byte(self.text, at) == b'\\' {
            let found = escape(self.text, at);
            let end = at + found.length;
            match found.value {
                Value::CodePoint(value) if is_second_surrogate(value) => return Ok(end),
                Value::CodePoint(_) => return Err(self.error(LexErrorKind::SurrogatePair, at, end)),
                Value::Incomplete => return Err(self.error(LexErrorKind::UnicodeEscape, at, end)),
                Value::Byte(_) | Value::Nothing => {}
            }
        }
        // PostgreSQL quotes one byte here, even if it is part of a longer character.
        Err(self.error(LexErrorKind::SurrogatePair, at, (at + 1).min(self.text.len())))
    }

    /// Refuses a string whose value is invalid UTF-8 or has a zero byte, which escapes can cause.
    #[cold]
    fn check_value(&self, start: usize, from: usize, end: usize) -> Result<(), LexError> {
        let value = self.value(from, end);
        let valid = match std::str::from_utf8(&value) {
            Ok(_) => value.len(),
            Err(error) => error.valid_up_to(),
        };
        let zero = memchr::memchr(0, &value).unwrap_or(value.len());
        let good = valid.min(zero);
        let Some(bad) = value.get(good..).filter(|bad| !bad.is_empty()) else { return Ok(()) };
        let length = match bad.first().copied().unwrap_or(0) {
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf7 => 4,
            _ => 1,
        };
        let shown = bad.get(..length.min(bad.len())).unwrap_or_default();
        let mut bytes = [0; 4];
        bytes.iter_mut().zip(shown).for_each(|(to, from)| *to = *from);
        let kind = LexErrorKind::InvalidBytes(bytes, shown.len() as u8);
        Err(LexError { kind, position: at_u32(start), near_end: at_u32(end) })
    }

    /// The value of the string with escapes from `from` to `end`. Its escapes were checked to be complete.
    fn value(&self, from: usize, end: usize) -> Vec<u8> {
        let mut value = Vec::with_capacity(end.saturating_sub(from));
        let mut at = from;
        while at < end {
            match byte(self.text, at) {
                b'\\' => {
                    let found = escape(self.text, at);
                    at += found.length;
                    match found.value {
                        Value::Byte(byte) => value.push(byte),
                        Value::CodePoint(first) => at += self.push_code_point(&mut value, first, at),
                        Value::Incomplete | Value::Nothing => value.push(b'\\'),
                    }
                }
                b'\'' if byte(self.text, at + 1) == b'\'' => {
                    value.push(b'\'');
                    at += 2;
                }
                b'\'' => at = continuation(self.text, at + 1).unwrap_or(end),
                other => {
                    value.push(other);
                    at += 1;
                }
            }
        }
        value
    }

    /// Appends a code point to `value`. If `first` is the first half of a surrogate pair, the escape at `next` is the
    /// second half. Returns the number of bytes of the second half.
    fn push_code_point(&self, value: &mut Vec<u8>, first: u32, next: usize) -> usize {
        let mut taken = 0;
        let mut code_point = first;
        if is_first_surrogate(first) {
            let second = escape(self.text, next);
            if let Value::CodePoint(half) = second.value {
                code_point = 0x1_0000 + ((first & 0x3ff) << 10) + (half & 0x3ff);
                taken = second.length;
            }
        }
        let character = char::from_u32(code_point).unwrap_or(char::REPLACEMENT_CHARACTER);
        value.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        taken
    }
}
