//! Reads comments of both kinds.

use super::Lexer;
use super::error::LexErrorKind;
use super::token::TokenKind;
use memchr::memchr2;

/// The end of the line of `from`: its newline or the end of the text.
#[inline]
pub(super) fn line_end(text: &[u8], from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    memchr2(b'\n', b'\r', rest).map_or(text.len(), |length| from + length)
}

impl Lexer<'_> {
    /// Reads from the `--` at `start` to the end of its line.
    pub(super) fn line_comment(&mut self, start: usize) {
        self.comments_seen = true;
        self.at = line_end(self.text, start + 2);
    }

    /// Reads from the `/*` at `start` to the `*/` that closes it. Comments can be nested; the depth is only a counter.
    pub(super) fn block_comment(&mut self, start: usize) -> Result<TokenKind, LexErrorKind> {
        self.comments_seen = true;
        let mut open = 1_usize;
        let mut at = start + 2;
        while let Some(found) = self.text.get(at..).and_then(|rest| memchr2(b'*', b'/', rest)) {
            at += found + 1;
            match self.text.get(at - 1..=at) {
                Some(b"/*") => {
                    open += 1;
                    at += 1;
                }
                Some(b"*/") => {
                    open -= 1;
                    at += 1;
                    if open == 0 {
                        self.at = at;
                        return Ok(TokenKind::BlockComment);
                    }
                }
                _ => {}
            }
        }
        Err(LexErrorKind::UnterminatedComment)
    }
}
