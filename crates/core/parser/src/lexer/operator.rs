//! Reads operators. They end where a comment begins. Unless they have an unusual character, they also end before the
//! `+` and `-` at their end.

use super::Lexer;
use super::class::{OPERATOR, UNUSUAL, byte, is};
use super::error::{LexError, LexErrorKind};
use super::token::TokenKind;

/// The longest operator, because PostgreSQL's names have at most 63 bytes.
const OPERATOR_BYTES_MAX: usize = 63;

/// Facts about a run of operator characters. They are kept so that a megabyte of `+`, which is a million tokens, is
/// searched only once.
///
/// ```text
///   < @ - > = + + - / *
///             ^tail ^limit       `unusual` is the offset after the @
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Run {
    /// Where the run ends or a comment begins. Valid for tokens that begin before it.
    limit: usize,
    /// Where the `+` and `-` at its end begin.
    tail: usize,
    /// The offset after its last unusual character, or the beginning of the run.
    unusual: usize,
}

impl Run {
    fn measure(text: &[u8], start: usize) -> Self {
        let mut run = Self { limit: start, tail: start, unusual: start };
        let mut at = start;
        loop {
            let this = byte(text, at);
            if !is(this, OPERATOR) || (at > start && begins_comment(text, at)) {
                break;
            }
            at += 1;
            if is(this, UNUSUAL) {
                run.unusual = at;
            }
            if !matches!(this, b'+' | b'-') {
                run.tail = at;
            }
        }
        run.limit = at;
        run
    }

    /// The end of the operator that begins at `start`.
    fn operator_end(&self, start: usize) -> usize {
        if self.unusual > start { self.limit } else { self.tail.max(start + 1) }
    }
}

/// Whether `--` or `/*` is at `at`.
#[inline]
pub(super) fn begins_comment(text: &[u8], at: usize) -> bool {
    matches!((byte(text, at), byte(text, at + 1)), (b'-', b'-') | (b'/', b'*'))
}

impl Lexer<'_> {
    /// Reads the operator that begins at `start`. No comment begins there.
    #[inline]
    pub(super) fn operator(&mut self, start: usize) -> Result<TokenKind, LexError> {
        if is(byte(self.text, start + 1), OPERATOR) {
            return self.long_operator(start);
        }
        self.at = start + 1;
        Ok(single(byte(self.text, start)))
    }

    fn long_operator(&mut self, start: usize) -> Result<TokenKind, LexError> {
        if start >= self.run.limit {
            self.run = Run::measure(self.text, start);
        }
        let end = self.run.operator_end(start);
        self.at = end;
        match self.text.get(start..end).unwrap_or_default() {
            [one] => Ok(single(*one)),
            b"=>" => Ok(TokenKind::EqualsGreater),
            b"<=" => Ok(TokenKind::LessEquals),
            b">=" => Ok(TokenKind::GreaterEquals),
            b"<>" | b"!=" => Ok(TokenKind::NotEquals),
            long if long.len() > OPERATOR_BYTES_MAX => {
                Err(self.error(LexErrorKind::OperatorTooLong, start, end))
            }
            _ => Ok(TokenKind::Operator),
        }
    }
}

/// The kind of an operator of one character.
fn single(byte: u8) -> TokenKind {
    match byte {
        b'+' | b'-' | b'*' | b'/' | b'%' | b'^' | b'<' | b'>' | b'=' => TokenKind::Symbol,
        _ => TokenKind::Operator,
    }
}
