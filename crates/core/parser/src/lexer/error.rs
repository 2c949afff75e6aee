//! Errors of the lexer.

use std::fmt;

/// Why a text cannot be split into tokens, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LexError {
    /// What is wrong.
    pub kind: LexErrorKind,
    /// The offset of the byte that PostgreSQL's error would point at.
    pub position: u32,
    /// The offset after the text that PostgreSQL's message quotes after "at or near".
    pub near_end: u32,
}

/// What is wrong with a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LexErrorKind {
    /// `/*` without its `*/`.
    UnterminatedComment,
    /// `B'` without its closing quote.
    UnterminatedBitString,
    /// `X'` without its closing quote.
    UnterminatedHexString,
    /// `'`, `E'` or `U&'` without its closing quote.
    UnterminatedString,
    /// `$tag$` without the second one.
    UnterminatedDollarString,
    /// `"` or `U&"` without its closing quote.
    UnterminatedIdent,
    /// `""`.
    EmptyIdent,
    /// Only half of a UTF-16 surrogate pair in `E'...'`.
    SurrogatePair,
    /// `\u` or `\U` in `E'...'` with a code point that does not exist.
    UnicodeValue,
    /// `\u` or `\U` in `E'...'` with too few digits.
    UnicodeEscape,
    /// `U&'...'` while standard_conforming_strings is off.
    UnsafeUnicodeString,
    /// Escapes in `E'...'` that give a zero byte or invalid UTF-8: the bytes of the invalid character and their number.
    InvalidBytes([u8; 4], u8),
    /// An operator of 64 characters or more.
    OperatorTooLong,
    /// `$` with a number over 2,147,483,647.
    ParamTooLarge,
    /// `0x` without a digit.
    HexInteger,
    /// `0o` without a digit.
    OctalInteger,
    /// `0b` without a digit.
    BinaryInteger,
    /// A letter right after a number.
    TrailingJunk,
    /// A zero byte, which no client can send to PostgreSQL in a statement.
    NulByte,
    /// The text is longer than [`TEXT_MAX`](super::TEXT_MAX).
    TextTooLong,
}

impl LexErrorKind {
    /// PostgreSQL's message without the quoted text.
    #[must_use]
    pub fn summary(self) -> &'static str {
        match self {
            Self::UnterminatedComment => "unterminated /* comment",
            Self::UnterminatedBitString => "unterminated bit string literal",
            Self::UnterminatedHexString => "unterminated hexadecimal string literal",
            Self::UnterminatedString => "unterminated quoted string",
            Self::UnterminatedDollarString => "unterminated dollar-quoted string",
            Self::UnterminatedIdent => "unterminated quoted identifier",
            Self::EmptyIdent => "zero-length delimited identifier",
            Self::SurrogatePair => "invalid Unicode surrogate pair",
            Self::UnicodeValue => "invalid Unicode escape value",
            Self::UnicodeEscape => "invalid Unicode escape",
            Self::UnsafeUnicodeString => "unsafe use of string constant with Unicode escapes",
            Self::InvalidBytes(..) | Self::NulByte => "invalid byte sequence for encoding \"UTF8\"",
            Self::OperatorTooLong => "operator too long",
            Self::ParamTooLarge => "parameter number too large",
            Self::HexInteger => "invalid hexadecimal integer",
            Self::OctalInteger => "invalid octal integer",
            Self::BinaryInteger => "invalid binary integer",
            Self::TrailingJunk => "trailing junk after numeric literal",
            Self::TextTooLong => "statement is too long",
        }
    }

    /// The SQLSTATE that PostgreSQL reports.
    #[must_use]
    pub fn sqlstate(self) -> &'static str {
        match self {
            Self::UnicodeEscape => "22025",
            Self::UnsafeUnicodeString => "0A000",
            Self::InvalidBytes(..) | Self::NulByte => "22021",
            Self::TextTooLong => "54000",
            _ => "42601",
        }
    }

    /// Whether PostgreSQL's message quotes the text at the position ("at or near").
    fn quotes_text(self) -> bool {
        self.sqlstate() == "42601"
    }
}

impl LexError {
    /// PostgreSQL's message. `text` must be the text that was read, because the message quotes it.
    #[must_use]
    pub fn message(&self, text: impl AsRef<[u8]>) -> String {
        let summary = self.kind.summary();
        match self.kind {
            LexErrorKind::InvalidBytes(bytes, count) => {
                let shown: Vec<String> =
                    bytes.iter().take(count.into()).map(|byte| format!("0x{byte:02x}")).collect();
                return format!("{summary}: {}", shown.join(" "));
            }
            LexErrorKind::NulByte => return format!("{summary}: 0x00"),
            kind if !kind.quotes_text() => return summary.to_owned(),
            _ => {}
        }
        let near = text.as_ref().get(self.position as usize..self.near_end as usize).unwrap_or_default();
        if near.is_empty() {
            format!("{summary} at end of input")
        } else {
            format!("{summary} at or near \"{}\"", String::from_utf8_lossy(near))
        }
    }
}

impl fmt::Display for LexError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} at byte {}", self.kind.summary(), self.position)
    }
}

impl std::error::Error for LexError {}
