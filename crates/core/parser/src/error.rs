//! Errors of parsing, in PostgreSQL's words.

use std::fmt;

use crate::lexer::{LexError, LexErrorKind};

/// Why a text has no parse tree: PostgreSQL's message, SQLSTATE and position, or a limit of this crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    pub(crate) message: Box<str>,
    pub(crate) detail: Option<Box<str>>,
    pub(crate) hint: Option<Box<str>>,
    pub(crate) context: Option<Box<str>>,
    pub(crate) sqlstate: SqlState,
    pub(crate) cursor: u32,
    pub(crate) position: Option<usize>,
}

impl ParseError {
    /// An error of this crate. `at` is the text and the byte in it.
    pub(crate) fn new(sqlstate: SqlState, message: impl Into<Box<str>>, at: Option<(&str, usize)>) -> Self {
        let cursor = at.map_or(0, |(text, byte)| characters_before(text, byte) + 1);
        Self {
            message: message.into(),
            detail: None,
            hint: None,
            context: None,
            sqlstate,
            cursor,
            position: at.map(|(_, byte)| byte),
        }
    }

    /// The error for an error of this crate's lexer, in PostgreSQL's words.
    pub(crate) fn from_lexer(error: &LexError, text: &str) -> Self {
        // For bytes that escapes make, PostgreSQL reports no position.
        let has_place = !matches!(error.kind, LexErrorKind::InvalidBytes(..));
        let at = has_place.then_some((text, error.position as usize));
        Self::new(SqlState::from_code(error.kind.sqlstate()), error.message(text), at)
    }

    /// The message, in PostgreSQL's words.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The detail, if PostgreSQL gives one.
    pub fn detail(&self) -> Option<&str> {
        self.detail.as_deref()
    }

    /// The hint, if PostgreSQL gives one.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The place in a PL/pgSQL function, if it is one.
    pub fn context(&self) -> Option<&str> {
        self.context.as_deref()
    }

    /// The SQLSTATE that PostgreSQL's ErrorResponse would have.
    pub fn sqlstate(&self) -> SqlState {
        self.sqlstate
    }

    /// The position as in ErrorResponse's field `P`: in characters from 1; 0 if it is unknown.
    pub fn cursor(&self) -> u32 {
        self.cursor
    }

    /// The position in bytes from 0.
    pub fn position(&self) -> Option<usize> {
        self.position
    }

    /// Computes the position in bytes from the cursor, which counts characters.
    pub(crate) fn locate(mut self, text: &str) -> Self {
        let wanted = self.cursor as usize;
        self.position =
            (wanted > 0).then(|| text.char_indices().nth(wanted - 1).map_or(text.len(), |(byte, _)| byte));
        self
    }
}

fn characters_before(text: &str, byte: usize) -> u32 {
    let characters = text.char_indices().take_while(|(at, _)| *at < byte).count();
    u32::try_from(characters).unwrap_or(u32::MAX)
}

impl fmt::Display for ParseError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)?;
        if self.cursor > 0 {
            write!(out, " (character {})", self.cursor)?;
        }
        Ok(())
    }
}

impl std::error::Error for ParseError {}

/// A five-character SQLSTATE (PostgreSQL's Appendix A).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SqlState([u8; 5]);

impl SqlState {
    /// `syntax_error`.
    pub const SYNTAX_ERROR: Self = Self(*b"42601");
    /// `character_not_in_repertoire`: bytes that are not UTF-8, or a zero byte.
    pub const CHARACTER_NOT_IN_REPERTOIRE: Self = Self(*b"22021");
    /// `program_limit_exceeded`: a limit of this crate.
    pub const PROGRAM_LIMIT_EXCEEDED: Self = Self(*b"54000");
    /// `out_of_memory`.
    pub const OUT_OF_MEMORY: Self = Self(*b"53200");
    /// `internal_error`.
    pub const INTERNAL_ERROR: Self = Self(*b"XX000");

    /// Unpacks an SQLSTATE that C's `MAKE_SQLSTATE` has packed: six bits for each character (minus `'0'`), the first
    /// character in the lowest bits.
    pub(crate) fn unpack(packed: i32) -> Self {
        let mut state = *b"00000";
        for (index, character) in state.iter_mut().enumerate() {
            let bits = (packed >> (6 * index)) & 0x3f;
            *character = b'0' + u8::try_from(bits).unwrap_or_default();
        }
        Self(state)
    }

    /// The SQLSTATE with these five characters.
    pub(crate) fn from_code(code: &str) -> Self {
        code.as_bytes().try_into().map_or(Self::INTERNAL_ERROR, Self)
    }

    /// The five characters.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or("XX000")
    }
}

impl fmt::Display for SqlState {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

impl fmt::Debug for SqlState {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}
