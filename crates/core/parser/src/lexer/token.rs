//! What a lexer yields.

/// A token: its kind and the bytes it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// The offset of its first byte.
    pub start: u32,
    /// The offset after its last byte.
    pub end: u32,
}

impl Token {
    /// The bytes of the token in the text it was found in; empty where that is another text.
    #[inline]
    #[must_use]
    pub fn bytes<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

/// The kinds of token. The name PostgreSQL's grammar has for a kind stands after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum TokenKind {
    /// An unquoted name or a key word: [`keyword`](super::keyword) tells which (`IDENT` or the key word's own).
    Word,
    /// `"..."` (`IDENT`).
    QuotedIdent,
    /// `U&"..."`, its escapes not yet read (`UIDENT`).
    UnicodeIdent,
    /// `'...'`, parts on later lines included (`SCONST`).
    String,
    /// `E'...'`, or `'...'` where standard_conforming_strings is off (`SCONST`).
    EscapeString,
    /// `$$...$$` or `$tag$...$tag$` (`SCONST`).
    DollarString,
    /// `U&'...'`, its escapes not yet read (`USCONST`).
    UnicodeString,
    /// `B'...'` (`BCONST`).
    BitString,
    /// `X'...'` (`XCONST`).
    HexString,
    /// The `N` of `N'...'`, which stands for the key word NCHAR; the string is the next token (`NCHAR`).
    National,
    /// A whole number of at most 31 bits (`ICONST`).
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
    /// A character that is a token of its own: ``,()[].;:+-*/%^<>=`` or one that SQL has no use for.
    Symbol,
    /// `-- ...`, without the newline; only where comments are asked for (`SQL_COMMENT`).
    LineComment,
    /// `/* ... */`, with those nested in it; only where comments are asked for (`C_COMMENT`).
    BlockComment,
}
