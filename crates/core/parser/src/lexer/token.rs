//! The tokens that a lexer yields.

/// A token: its kind and its place in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token {
    /// The token's kind.
    pub kind: TokenKind,
    /// The offset of its first byte.
    pub start: u32,
    /// The offset after its last byte.
    pub end: u32,
}

impl Token {
    /// The token's bytes in `text`, which must be the text that was read. Empty if `text` is too short.
    #[inline]
    #[must_use]
    pub fn bytes<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

/// The kinds of tokens, with their names in PostgreSQL's grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum TokenKind {
    /// An unquoted name or a keyword (`IDENT` or the keyword's name): [`keyword`](super::keyword) distinguishes them.
    Word,
    /// `"..."` (`IDENT`).
    QuotedIdent,
    /// `U&"..."`, whose escapes are not read yet (`UIDENT`).
    UnicodeIdent,
    /// `'...'`, including its parts on later lines (`SCONST`).
    String,
    /// `E'...'`, or `'...'` if standard_conforming_strings is off (`SCONST`).
    EscapeString,
    /// `$$...$$` or `$tag$...$tag$` (`SCONST`).
    DollarString,
    /// `U&'...'`, whose escapes are not read yet (`USCONST`).
    UnicodeString,
    /// `B'...'` (`BCONST`).
    BitString,
    /// `X'...'` (`XCONST`).
    HexString,
    /// The `N` of `N'...'`, which means the keyword NCHAR (`NCHAR`). The string is the next token.
    National,
    /// An integer of at most 31 bits (`ICONST`).
    Integer,
    /// A number with a point or an exponent, or too large for `Integer` (`FCONST`).
    Float,
    /// `$1` (`PARAM`).
    Param,
    /// `::` (`TYPECAST`).
    Typecast,
    /// `..` (`DOT_DOT`).
    DotDot,
    /// `:=` (`COLON_EQUALS`).
    ColonEquals,
    /// `=>` (`EQUALS_GREATER`).
    EqualsGreater,
    /// `<=` (`LESS_EQUALS`).
    LessEquals,
    /// `>=` (`GREATER_EQUALS`).
    GreaterEquals,
    /// `<>` or `!=` (`NOT_EQUALS`).
    NotEquals,
    /// Any other operator (`Op`).
    Operator,
    /// A character that is a token by itself: ``,()[].;:+-*/%^<>=`` or a character that SQL does not use.
    Symbol,
    /// `-- ...`, without the newline; only if the lexer yields comments (`SQL_COMMENT`).
    LineComment,
    /// `/* ... */`, with nested comments; only if the lexer yields comments (`C_COMMENT`).
    BlockComment,
}
