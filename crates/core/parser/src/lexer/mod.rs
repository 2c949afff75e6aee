//! PostgreSQL's lexer in safe Rust. It splits a statement's text into tokens, without C and without allocations.
//!
//! [`Lexer`] yields the same tokens as PostgreSQL 18's lexer, with the same kinds, positions and errors (chapter 4.1
//! of the manual, "Lexical Structure"). Unlike PostgreSQL's lexer, its time is proportional to the length of the text
//! for any text: a hundred thousand nested comments or a megabyte of `+` are read only once.
//!
//! ```
//! use trunkline_parser::lexer::{Lexer, TokenKind};
//!
//! let text = "SELECT 'a' || $1 -- done";
//! let tokens: Result<Vec<_>, _> = Lexer::new(text).collect();
//! let kinds: Vec<_> = tokens?.iter().map(|token| token.kind).collect();
//! assert_eq!(kinds, [TokenKind::Word, TokenKind::String, TokenKind::Operator, TokenKind::Param]);
//! # Ok::<(), trunkline_parser::lexer::LexError>(())
//! ```
//!
//! In one case it follows libpg_query instead, because its tokens must fit libpg_query's parser: a letter directly
//! after a parameter (`$1OR`) begins the next token. PostgreSQL since version 15 reports "trailing junk after
//! parameter". `\'` is accepted in `E'...'`, as with PostgreSQL's `backslash_quote` for UTF-8.
//!
//! The text must be in an encoding that a PostgreSQL server can use, such as UTF-8. The encodings that only clients
//! can use (SJIS, BIG5, GBK, UHC, GB18030, JOHAB) have ASCII bytes inside characters, so convert a text in one of
//! them first.
//!
//! | file | what it reads |
//! |---|---|
//! | `class` | the classes of bytes |
//! | `string`, `escape` | everything in quotes, and the backslashes of `E'...'` |
//! | `number` | numbers |
//! | `operator` | operators |
//! | `comment` | comments |
//! | `keyword`, `bucket` | keywords |
//! | `scan_token` | tokens as the grammar numbers them |
//! | `wide` | several bytes at a time |
//! | `token`, `error` | (the types of results) |

mod bucket;
pub(crate) mod class;
mod comment;
mod error;
mod escape;
mod keyword;
mod number;
mod operator;
mod scan_token;
mod string;
#[cfg(test)]
mod tests;
mod token;
pub(crate) mod wide;

pub use error::{LexError, LexErrorKind};
pub use keyword::{Keyword, KeywordKind, keyword, keywords};
pub use scan_token::{ScanToken, scan};
pub use token::{Token, TokenKind};

use class::{CLASS, Class, SPACE, WORD, byte, run_end};

/// The longest text that is read, in bytes: PostgreSQL's locations are signed 32-bit integers.
pub const TEXT_MAX: usize = i32::MAX as usize;

/// Splits a text into PostgreSQL's tokens, one at a time.
///
/// A copy continues at the position of the original.
#[derive(Clone, Debug)]
pub struct Lexer<'a> {
    text: &'a [u8],
    /// The position: everything before it has been read.
    at: usize,
    run: operator::Run,
    /// An error of the whole text. Nothing is read then.
    text_error: Option<LexError>,
    escapes_everywhere: bool,
    yield_comments: bool,
    comments_seen: bool,
}

impl<'a> Lexer<'a> {
    /// A lexer at the beginning of `text`, with standard_conforming_strings on, that skips comments.
    #[inline]
    #[must_use]
    pub fn new(text: &'a (impl AsRef<[u8]> + ?Sized)) -> Self {
        let text = text.as_ref();
        let mut lexer = Self {
            text,
            at: 0,
            run: operator::Run::default(),
            text_error: None,
            escapes_everywhere: false,
            yield_comments: false,
            comments_seen: false,
        };
        if text.len() > TEXT_MAX {
            lexer.refuse(LexErrorKind::TextTooLong, TEXT_MAX);
        } else if let Some(at) = memchr::memchr(0, text) {
            lexer.refuse(LexErrorKind::NulByte, at);
        }
        lexer
    }

    /// Sets the session's standard_conforming_strings. If it is off, `'...'` means `E'...'`.
    #[must_use]
    pub fn standard_conforming_strings(mut self, on: bool) -> Self {
        self.escapes_everywhere = !on;
        self
    }

    /// Sets whether comments are yielded as tokens.
    #[must_use]
    pub fn comments(mut self, yielded: bool) -> Self {
        self.yield_comments = yielded;
        self
    }

    /// Whether a comment has occurred so far, yielded or not.
    #[must_use]
    pub fn comments_seen(&self) -> bool {
        self.comments_seen
    }

    /// The offset after the last token.
    #[must_use]
    pub fn position(&self) -> usize {
        self.at
    }

    /// The next token; `None` at the end of the text and after an error.
    ///
    /// # Errors
    /// The errors of PostgreSQL's lexer, at the same positions.
    #[inline]
    pub fn next_token(&mut self) -> Result<Option<Token>, LexError> {
        loop {
            let start = self.at;
            let Some(first) = self.text.get(start).copied() else { return self.end() };
            let kind = match CLASS[usize::from(first)] {
                Class::Space => {
                    self.at = run_end(self.text, start + 1, SPACE);
                    continue;
                }
                Class::Word => self.word(start),
                Class::Prefix => match byte(self.text, start + 1) {
                    b'\'' | b'&' => self.prefixed(start, first | 0x20),
                    _ => self.word(start),
                },
                Class::Single | Class::Other => self.take(start, 1, TokenKind::Symbol),
                Class::Digit => self.number(start),
                Class::Dollar => self.dollar(start),
                Class::Quote if self.escapes_everywhere => {
                    self.escape_string(start, start + 1).map(|()| TokenKind::EscapeString)
                }
                Class::Quote => self.quoted(start, Self::plain_string, start + 1, TokenKind::String),
                Class::DoubleQuote => {
                    self.quoted(start, Self::quoted_ident, start + 1, TokenKind::QuotedIdent)
                }
                Class::Dot => self.dot(start),
                Class::Colon => self.colon(start),
                Class::Operator if operator::begins_comment(self.text, start) => {
                    let kind = self.comment(start, first);
                    if kind.is_ok() && !self.yield_comments {
                        continue;
                    }
                    kind
                }
                Class::Operator => self.operator(start),
            };
            return match kind {
                Ok(kind) => Ok(Some(Token { kind, start: at_u32(start), end: at_u32(self.at) })),
                Err(error) => Err(self.fail(error)),
            };
        }
    }

    /// Continues at `at`, where a token or white space must begin.
    #[inline]
    pub(crate) fn resume(&mut self, at: usize) {
        self.at = at;
    }

    #[inline]
    fn take(&mut self, start: usize, length: usize, kind: TokenKind) -> Result<TokenKind, LexError> {
        self.at = start + length;
        Ok(kind)
    }

    #[inline]
    fn word(&mut self, start: usize) -> Result<TokenKind, LexError> {
        self.at = run_end(self.text, start + 1, WORD);
        Ok(TokenKind::Word)
    }

    /// A token in quotes, which `read` reads from `from` on. Errors quote the text up to the lexer's position, which
    /// is the end of the text if the closing quote is missing.
    #[inline]
    fn quoted(
        &mut self,
        start: usize,
        read: fn(&mut Self, usize) -> Result<(), LexErrorKind>,
        from: usize,
        kind: TokenKind,
    ) -> Result<TokenKind, LexError> {
        match read(self, from) {
            Ok(()) => Ok(kind),
            Err(LexErrorKind::EmptyIdent) => Err(self.error(LexErrorKind::EmptyIdent, start, self.at)),
            Err(error) => Err(self.error(error, start, self.text.len())),
        }
    }

    /// A token that begins with the letter `letter` (in lower case) and a quote or an ampersand.
    fn prefixed(&mut self, start: usize, letter: u8) -> Result<TokenKind, LexError> {
        let quote = start + 2;
        match (letter, byte(self.text, start + 1), byte(self.text, quote)) {
            (b'e', b'\'', _) => self.escape_string(start, quote).map(|()| TokenKind::EscapeString),
            (b'b', b'\'', _) => {
                let read =
                    |lexer: &mut Self, from| lexer.digit_string(from, LexErrorKind::UnterminatedBitString);
                self.quoted(start, read, quote, TokenKind::BitString)
            }
            (b'x', b'\'', _) => {
                let read =
                    |lexer: &mut Self, from| lexer.digit_string(from, LexErrorKind::UnterminatedHexString);
                self.quoted(start, read, quote, TokenKind::HexString)
            }
            (b'n', b'\'', _) => self.take(start, 1, TokenKind::National),
            (b'u', b'&', b'\'') if self.escapes_everywhere => {
                Err(self.error(LexErrorKind::UnsafeUnicodeString, start, quote + 1))
            }
            (b'u', b'&', b'\'') => {
                self.quoted(start, Self::plain_string, quote + 1, TokenKind::UnicodeString)
            }
            (b'u', b'&', b'"') => self.quoted(start, Self::quoted_ident, quote + 1, TokenKind::UnicodeIdent),
            _ => self.word(start),
        }
    }

    fn dot(&mut self, start: usize) -> Result<TokenKind, LexError> {
        match byte(self.text, start + 1) {
            b'.' => self.take(start, 2, TokenKind::DotDot),
            b'0'..=b'9' => self.fraction(start, start + 1),
            _ => self.take(start, 1, TokenKind::Symbol),
        }
    }

    fn colon(&mut self, start: usize) -> Result<TokenKind, LexError> {
        match byte(self.text, start + 1) {
            b':' => self.take(start, 2, TokenKind::Typecast),
            b'=' => self.take(start, 2, TokenKind::ColonEquals),
            _ => self.take(start, 1, TokenKind::Symbol),
        }
    }

    fn comment(&mut self, start: usize, first: u8) -> Result<TokenKind, LexError> {
        if first == b'-' {
            self.line_comment(start);
            return Ok(TokenKind::LineComment);
        }
        self.block_comment(start).map_err(|kind| self.error(kind, start, self.text.len()))
    }

    /// The end of the text. Returns the error of the whole text once.
    #[cold]
    fn end(&mut self) -> Result<Option<Token>, LexError> {
        self.text_error.take().map_or(Ok(None), Err)
    }

    /// Ends the reading, so that no more tokens are yielded.
    #[cold]
    fn fail(&mut self, error: LexError) -> LexError {
        self.at = self.text.len();
        error
    }

    #[cold]
    fn refuse(&mut self, kind: LexErrorKind, position: usize) {
        self.text_error = Some(self.error(kind, position, position + 1));
        self.text = &[];
    }
}

impl Iterator for Lexer<'_> {
    type Item = Result<Token, LexError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_token().transpose()
    }
}

impl std::iter::FusedIterator for Lexer<'_> {}

/// An offset as a `u32`. It is exact, because texts have at most [`TEXT_MAX`] bytes.
#[inline]
fn at_u32(offset: usize) -> u32 {
    offset as u32
}
