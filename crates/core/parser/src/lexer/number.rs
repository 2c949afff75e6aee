//! Reads numbers: `12`, `1_000`, `0x1f`, `0o17`, `0b1`, `1.5`, `.5`, `1e-3`. (`1..10` is two numbers.)

use super::Lexer;
use super::class::{DIGIT, HEX, WORD, WORD_START, byte, is, run_end};
use super::error::{LexError, LexErrorKind};
use super::token::TokenKind;

/// The base of a number, given by its prefix.
struct Base {
    bits: u32,
    invalid: LexErrorKind,
}

fn base(letter: u8) -> Option<Base> {
    match letter | 0x20 {
        b'x' => Some(Base { bits: 4, invalid: LexErrorKind::HexInteger }),
        b'o' => Some(Base { bits: 3, invalid: LexErrorKind::OctalInteger }),
        b'b' => Some(Base { bits: 1, invalid: LexErrorKind::BinaryInteger }),
        _ => None,
    }
}

/// Digits with single underscores between them.
struct Digits {
    end: usize,
    /// Whether the byte at `end` makes the digits an error ("trailing junk"). It is a letter, or a dollar after
    /// digits with an underscore, because `1_000$` could also be read as 1 and the name `_000$`.
    junk: bool,
}

#[inline]
fn digits(text: &[u8], from: usize) -> Digits {
    let mut end = run_end(text, from, DIGIT);
    let mut joined = false;
    while byte(text, end) == b'_' && is(byte(text, end + 1), DIGIT) {
        joined = true;
        end = run_end(text, end + 1, DIGIT);
    }
    let next = byte(text, end);
    Digits { end, junk: is(next, WORD_START) || (joined && next == b'$') }
}

/// Whether the value of digits with underscores is at most 2,147,483,647.
#[inline]
fn fits_31_bits(digits: &[u8]) -> bool {
    // Nine digits are less than 10^9.
    if digits.len() <= 9 {
        return true;
    }
    let number = digits.iter().filter(|digit| **digit != b'_').try_fold(0_i32, |number, digit| {
        number.checked_mul(10)?.checked_add(i32::from(digit.wrapping_sub(b'0')))
    });
    number.is_some()
}

impl Lexer<'_> {
    /// Reads the number that begins with the digit at `start`.
    pub(super) fn number(&mut self, start: usize) -> Result<TokenKind, LexError> {
        let Digits { end, junk } = digits(self.text, start);
        if junk {
            return self.number_and_letter(start, end);
        }
        if byte(self.text, end) == b'.' && byte(self.text, end + 1) != b'.' {
            return self.fraction(start, end + 1);
        }
        self.at = end;
        let digits = self.text.get(start..end).unwrap_or_default();
        Ok(if fits_31_bits(digits) { TokenKind::Integer } else { TokenKind::Float })
    }

    /// Reads a number with a point. Its fraction begins at `from` and may be empty.
    pub(super) fn fraction(&mut self, start: usize, from: usize) -> Result<TokenKind, LexError> {
        let next = byte(self.text, from);
        let Digits { end, junk } = if is(next, DIGIT) {
            digits(self.text, from)
        } else {
            Digits { end: from, junk: is(next, WORD_START) }
        };
        if junk {
            return self.exponent(start, end);
        }
        self.at = end;
        Ok(TokenKind::Float)
    }

    /// Reads digits from `start` to `end` with a letter after them, which is a base, an exponent or an error.
    fn number_and_letter(&mut self, start: usize, end: usize) -> Result<TokenKind, LexError> {
        match base(byte(self.text, end)) {
            Some(base) if end == start + 1 && byte(self.text, start) == b'0' => self.based(start, &base),
            _ => self.exponent(start, end),
        }
    }

    /// Reads a number with a letter at `end`, which may begin its exponent.
    fn exponent(&mut self, start: usize, end: usize) -> Result<TokenKind, LexError> {
        let sign = matches!(byte(self.text, end + 1), b'+' | b'-');
        let first = end + 1 + usize::from(sign);
        let digit = is(byte(self.text, first), DIGIT);
        if byte(self.text, end) | 0x20 != b'e' || !(sign || digit) {
            return Err(self.junk(start, end));
        }
        if !digit {
            return Err(self.error(LexErrorKind::TrailingJunk, start, first));
        }
        let last = digits(self.text, first);
        // Without a sign, `e5` and the bytes after it could also be a name, and a name may have a dollar.
        if last.junk || (!sign && byte(self.text, last.end) == b'$') {
            return Err(self.junk(start, last.end));
        }
        self.at = last.end;
        Ok(TokenKind::Float)
    }

    /// Reads a number that begins with `0x`, `0o` or `0b` at `start`.
    fn based(&mut self, start: usize, base: &Base) -> Result<TokenKind, LexError> {
        let from = start + 2;
        let word_end = run_end(self.text, from, WORD);
        let mut at = from;
        let mut value = 0_u64;
        loop {
            let digit_at = at + usize::from(byte(self.text, at) == b'_');
            let Some(digit) = digit(byte(self.text, digit_at), base.bits) else { break };
            // The value saturates before it can overflow. Anything above 31 bits is a float.
            value = (value << base.bits | u64::from(digit)).min(1 << 32);
            at = digit_at + 1;
        }
        if at == from {
            // `0x_` is an error of the number. A longer text is the error of a name directly after a number.
            let whole = from + usize::from(byte(self.text, from) == b'_');
            let kind = if word_end > whole { LexErrorKind::TrailingJunk } else { base.invalid };
            return Err(self.error(kind, start, word_end));
        }
        if word_end > at {
            return Err(self.error(LexErrorKind::TrailingJunk, start, word_end));
        }
        self.at = at;
        Ok(if value <= i32::MAX as u64 { TokenKind::Integer } else { TokenKind::Float })
    }

    /// The error for a name directly after a number. Part of the name is at `from`.
    #[cold]
    fn junk(&self, start: usize, from: usize) -> LexError {
        self.error(LexErrorKind::TrailingJunk, start, run_end(self.text, from, WORD))
    }
}

fn digit(byte: u8, bits: u32) -> Option<u32> {
    if is(byte, HEX) { char::from(byte).to_digit(1 << bits) } else { None }
}
