//! Reads everything in quotes: strings of each kind, quoted names, dollar quotes.

use super::class::{DIGIT, SPACE, TAG, WORD_START, byte, is, run_end};
use super::comment::line_end;
use super::error::{LexError, LexErrorKind};
use super::token::TokenKind;
use super::wide::seek;
use super::{Lexer, at_u32};

/// If a string that was closed just before `after` continues with another part, the offset after the part's opening
/// quote.
///
/// The parts of a string must be separated by white space with a newline. A comment to the end of the line counts as
/// white space; a `/* */` does not.
#[inline]
pub(super) fn continuation(text: &[u8], after: usize) -> Option<usize> {
    let first = byte(text, after);
    if is(first, SPACE) || first == b'-' { continuation_over_space(text, after) } else { None }
}

fn continuation_over_space(text: &[u8], after: usize) -> Option<usize> {
    let mut at = after;
    let mut newline = false;
    loop {
        match byte(text, at) {
            b'\n' | b'\r' => {
                newline = true;
                at += 1;
            }
            space if is(space, SPACE) => at += 1,
            b'-' if byte(text, at + 1) == b'-' => at = line_end(text, at + 2),
            b'\'' if newline => return Some(at + 1),
            _ => return None,
        }
    }
}

impl Lexer<'_> {
    /// Reads a string without escapes, whose text begins at `from`. A doubled quote means one quote.
    #[inline]
    pub(crate) fn plain_string(&mut self, from: usize) -> Result<(), LexErrorKind> {
        let mut at = from;
        loop {
            at = seek(self.text, b'\'', at).ok_or(LexErrorKind::UnterminatedString)? + 1;
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
        Ok(())
    }

    /// Reads `B'...'` or `X'...'`, whose text begins at `from`. A doubled quote ends this string and begins another
    /// one.
    pub(super) fn digit_string(
        &mut self,
        from: usize,
        unterminated: LexErrorKind,
    ) -> Result<(), LexErrorKind> {
        let mut at = from;
        loop {
            at = seek(self.text, b'\'', at).ok_or(unterminated)? + 1;
            match continuation(self.text, at) {
                Some(next) => at = next,
                None => break,
            }
        }
        self.at = at;
        Ok(())
    }

    /// Reads a name in double quotes, whose text begins at `from`. A doubled quote means one quote.
    pub(crate) fn quoted_ident(&mut self, from: usize) -> Result<(), LexErrorKind> {
        let mut at = from;
        loop {
            at = seek(self.text, b'"', at).ok_or(LexErrorKind::UnterminatedIdent)? + 1;
            if byte(self.text, at) != b'"' {
                break;
            }
            at += 1;
        }
        self.at = at;
        if at == from + 1 { Err(LexErrorKind::EmptyIdent) } else { Ok(()) }
    }

    /// Reads the token that begins with the dollar at `start`: a parameter, a dollar quote or a single dollar.
    pub(super) fn dollar(&mut self, start: usize) -> Result<TokenKind, LexError> {
        let second = byte(self.text, start + 1);
        if is(second, DIGIT) {
            return self.param(start);
        }
        let tag_end = if is(second, WORD_START) { run_end(self.text, start + 2, TAG) } else { start + 1 };
        if byte(self.text, tag_end) != b'$' {
            self.at = start + 1;
            return Ok(TokenKind::Symbol);
        }
        let tag = self.text.get(start..=tag_end).unwrap_or_default();
        let mut at = tag_end + 1;
        // A tag contains no dollar, so no byte is compared twice.
        while let Some(found) = seek(self.text, b'$', at) {
            if self.text.get(found..).is_some_and(|rest| rest.starts_with(tag)) {
                self.at = found + tag.len();
                return Ok(TokenKind::DollarString);
            }
            at = found + 1;
        }
        Err(self.error(LexErrorKind::UnterminatedDollarString, start, self.text.len()))
    }

    /// Reads `$` and digits. Since version 15, PostgreSQL refuses a letter directly after them. libpg_query still
    /// accepts it (`$1OR`), so this lexer must too, because its tokens must fit libpg_query's parser. The server will
    /// refuse the text.
    fn param(&mut self, start: usize) -> Result<TokenKind, LexError> {
        let end = run_end(self.text, start + 1, DIGIT);
        let digits = self.text.get(start + 1..end).unwrap_or_default();
        let fits = digits
            .iter()
            .try_fold(0_i32, |number, digit| number.checked_mul(10)?.checked_add(i32::from(digit - b'0')));
        self.at = end;
        match fits {
            Some(_) => Ok(TokenKind::Param),
            None => Err(self.error(LexErrorKind::ParamTooLarge, start, end)),
        }
    }

    /// An error at `position`. Its message quotes the text up to `near_end`.
    #[cold]
    pub(super) fn error(&self, kind: LexErrorKind, position: usize, near_end: usize) -> LexError {
        LexError { kind, position: at_u32(position), near_end: at_u32(near_end) }
    }
}
