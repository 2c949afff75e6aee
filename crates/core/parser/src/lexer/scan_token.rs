//! Tokens with the numbers of PostgreSQL's grammar and of pg_query's `scan`.

use super::keyword::{self, Keyword, keyword};
use super::{LexError, Lexer, Token, TokenKind};
use std::fmt;

/// A token of [`scan`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanToken {
    /// The offset of its first byte.
    pub start: u32,
    /// The offset after its last byte.
    pub end: u32,
    /// The grammar's number of the token. The number of a single character is its ASCII code.
    pub number: u16,
    /// The keyword, if the token is one.
    pub keyword: Option<&'static Keyword>,
}

/// All tokens of a text, including comments, as pg_query's `scan` returns them.
///
/// # Errors
/// The errors of [`Lexer`].
pub fn scan(text: &(impl AsRef<[u8]> + ?Sized)) -> Result<Vec<ScanToken>, LexError> {
    let text = text.as_ref();
    let mut lexer = Lexer::new(text).comments(true);
    let mut tokens = Vec::with_capacity((text.len() / TOKEN_BYTES + 1).min(TOKENS_RESERVED_MAX));
    while let Some(token) = lexer.next_token()? {
        tokens.push(token.scan_token(text));
    }
    Ok(tokens)
}

/// In a usual statement, a token and the space after it have about this many bytes.
const TOKEN_BYTES: usize = 5;

/// Room for at most this many tokens is reserved at the beginning, because a long text may be a single string.
const TOKENS_RESERVED_MAX: usize = 1 << 12;

impl Token {
    /// The token with the grammar's number, and the keyword if it is one. `text` is the text of the token.
    #[inline]
    #[must_use]
    pub fn scan_token(&self, text: &[u8]) -> ScanToken {
        let bytes = self.bytes(text);
        let word = match self.kind {
            TokenKind::Word => keyword(bytes),
            TokenKind::National => keyword(b"nchar"),
            _ => None,
        };
        let number = word.map_or_else(|| number(self.kind, bytes), |word| word.number);
        ScanToken { start: self.start, end: self.end, number, keyword: word }
    }
}

/// The number of a token that is not a keyword.
#[inline]
fn number(kind: TokenKind, bytes: &[u8]) -> u16 {
    match kind {
        TokenKind::Word | TokenKind::QuotedIdent => keyword::IDENT,
        TokenKind::UnicodeIdent => keyword::UIDENT,
        TokenKind::String | TokenKind::EscapeString | TokenKind::DollarString => keyword::SCONST,
        TokenKind::UnicodeString => keyword::USCONST,
        TokenKind::BitString => keyword::BCONST,
        TokenKind::HexString => keyword::XCONST,
        TokenKind::National => keyword::NCHAR,
        TokenKind::Integer => keyword::ICONST,
        TokenKind::Float => keyword::FCONST,
        TokenKind::Param => keyword::PARAM,
        TokenKind::Typecast => keyword::TYPECAST,
        TokenKind::DotDot => keyword::DOT_DOT,
        TokenKind::ColonEquals => keyword::COLON_EQUALS,
        TokenKind::EqualsGreater => keyword::EQUALS_GREATER,
        TokenKind::LessEquals => keyword::LESS_EQUALS,
        TokenKind::GreaterEquals => keyword::GREATER_EQUALS,
        TokenKind::NotEquals => keyword::NOT_EQUALS,
        TokenKind::Operator => keyword::OP,
        TokenKind::Symbol => bytes.first().copied().map_or(0, u16::from),
        TokenKind::LineComment => keyword::SQL_COMMENT,
        TokenKind::BlockComment => keyword::C_COMMENT,
    }
}

impl fmt::Display for ScanToken {
    /// The token's name in pg_query: `IDENT`, `SELECT`, `ASCII_59`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.number {
            _ if self.keyword.is_some() => self.keyword.map_or("", |keyword| keyword.token),
            keyword::IDENT => "IDENT",
            keyword::UIDENT => "UIDENT",
            keyword::SCONST => "SCONST",
            keyword::USCONST => "USCONST",
            keyword::BCONST => "BCONST",
            keyword::XCONST => "XCONST",
            keyword::ICONST => "ICONST",
            keyword::FCONST => "FCONST",
            keyword::PARAM => "PARAM",
            keyword::TYPECAST => "TYPECAST",
            keyword::DOT_DOT => "DOT_DOT",
            keyword::COLON_EQUALS => "COLON_EQUALS",
            keyword::EQUALS_GREATER => "EQUALS_GREATER",
            keyword::LESS_EQUALS => "LESS_EQUALS",
            keyword::GREATER_EQUALS => "GREATER_EQUALS",
            keyword::NOT_EQUALS => "NOT_EQUALS",
            keyword::OP => "Op",
            keyword::SQL_COMMENT => "SQL_COMMENT",
            keyword::C_COMMENT => "C_COMMENT",
            character => return write!(out, "ASCII_{character}"),
        };
        out.write_str(name)
    }
}
