//! Scans the text.
//!
//! Most of a statement are words, spaces and punctuation. They are read here, because that is faster. The lexer reads
//! all other tokens. A test checks that both give the same key.

mod tokens;

use super::lists::{InList, Rows};
use super::writer::Writer;
use super::{KEYED_TEXT_MAX, Key, KeyBuffer, Literal, LiteralClass, ScanKey, Unsure};
use crate::lexer::class::{CLASS, Class, DIGIT, OPERATOR, WORD_START, byte, is};
use crate::lexer::{Lexer, Token, TokenKind};

/// What the last token means for the next one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Context {
    Other,
    /// `.`, after which every word is a name.
    Dot,
    /// `(`
    Open,
    /// `[` after a name, a parenthesis or another subscript. A number after it may be the bound of an array's type.
    Bound,
    /// UNION, EXCEPT, INTERSECT or their ALL and DISTINCT.
    SetOperation,
    Insert,
    /// INTO or AS, after which VALUES is a name.
    Into,
    // After one of the following, an opening parenthesis has a special meaning.
    In,
    /// `IN (`
    InOpen,
    /// VALUES that begins rows.
    Values,
    Position,
    Float,
    /// `FLOAT (`
    FloatOpen,
    // After one of the following, any symbol may have a special meaning.
    /// A comma between the modifiers of a type.
    Modifiers,
    /// A modifier of a type.
    Modifier,
}

/// The list around the current token, if it may be shortened.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Nothing,
    List,
    Rows,
}

struct Scan<'t, 'b> {
    text: &'t [u8],
    lexer: Lexer<'t>,
    key: Writer,
    literals: &'b mut Vec<Literal>,
    all_literals: bool,
    largest_parameter: u32,
    context: Context,
    within: Within,
    list: InList,
    rows: Rows,
    /// Between INSERT INTO and its VALUES.
    inserting: bool,
    /// Whether `POSITION (` has occurred, because its IN does not begin a list.
    position: bool,
    standard_strings: bool,
    /// Why the text has no key, as far as words and punctuation have shown.
    unsure: Option<Unsure>,
}

/// Scans `text`. With `by_lexer` the lexer reads every token.
#[inline(never)]
pub(super) fn scan<'b>(
    text: &[u8],
    buffer: &'b mut KeyBuffer,
    standard_strings: bool,
    by_lexer: bool,
) -> ScanKey<'b> {
    buffer.clear();
    if text.len() > KEYED_TEXT_MAX {
        return ScanKey::Unsure(Unsure::TooLong);
    }
    let mut scan = Scan {
        text,
        lexer: Lexer::new(text).standard_conforming_strings(standard_strings),
        key: std::mem::take(&mut buffer.bytes),
        literals: &mut buffer.literals,
        all_literals: true,
        largest_parameter: 0,
        context: Context::Other,
        within: Within::Nothing,
        list: InList::new(0),
        rows: Rows::new(false),
        inserting: false,
        position: false,
        standard_strings,
        unsure: None,
    };
    let outcome = scan.statement(by_lexer);
    let (all_literals, has_comments) = (scan.all_literals, scan.lexer.comments_seen());
    let largest_parameter = scan.largest_parameter;
    buffer.bytes = scan.key;
    match outcome {
        Err(unsure) => ScanKey::Unsure(unsure),
        Ok(()) => {
            let (bytes, literals) = (buffer.bytes.key(), buffer.literals.as_slice());
            ScanKey::Sure(Key { bytes, literals, all_literals, largest_parameter, has_comments })
        }
    }
}

impl Scan<'_, '_> {
    #[inline]
    fn statement(&mut self, by_lexer: bool) -> Result<(), Unsure> {
        self.beginning()?;
        let rest = if by_lexer { self.rest_by_lexer() } else { self.rest() };
        rest?;
        self.end_rows();
        self.unsure.map_or(Ok(()), Err)
    }

    /// Reads opening parentheses and the first word.
    fn beginning(&mut self) -> Result<(), Unsure> {
        while let Some(token) = self.next_token()? {
            match (token.kind, token.bytes(self.text)) {
                (TokenKind::Symbol, b"(") => self.key.push(b'('),
                (TokenKind::Word, word) => {
                    let start = self.key.len();
                    self.write_word(self.text, token.start as usize);
                    self.context = match self.written(start + 1) {
                        b"select" | b"update" | b"delete" | b"merge" | b"with" | b"table" => Context::Other,
                        b"insert" => Context::Insert,
                        b"values" => Context::Values,
                        _ => return Err(Unsure::Utility),
                    };
                    debug_assert_eq!(self.key.len() - start, word.len() + 1);
                    return Ok(());
                }
                _ => return Err(Unsure::Utility),
            }
        }
        Err(Unsure::Empty)
    }

    fn rest_by_lexer(&mut self) -> Result<(), Unsure> {
        while let Some(token) = self.next_token()? {
            if token.bytes(self.text) == b";" {
                return self.end_of_text();
            }
            self.token(token)?;
        }
        Ok(())
    }

    #[inline]
    fn rest(&mut self) -> Result<(), Unsure> {
        let text = self.text;
        let mut at = self.lexer.position();
        loop {
            let mut first = byte(text, at);
            if first == b' ' {
                at += 1;
                first = byte(text, at);
            }
            at = match CLASS[usize::from(first)] {
                Class::Prefix if matches!(byte(text, at + 1), b'\'' | b'&') => self.any_token(at)?,
                Class::Word | Class::Prefix => self.word(text, at),
                Class::Space => at + 1,
                Class::Single if first == b';' => {
                    self.lexer.resume(at + 1);
                    return self.end_of_text();
                }
                Class::Single => self.symbol_at(at, first),
                Class::Dot if byte(text, at + 1) != b'.' && !is(byte(text, at + 1), DIGIT) => {
                    self.symbol_at(at, b'.')
                }
                Class::Operator if !is(byte(text, at + 1), OPERATOR) => self.one_operator(at, first),
                Class::Digit => match short_integer(text, at) {
                    Some(end) if !matches!(self.context, Context::FloatOpen | Context::Bound) => {
                        self.literal_at(at, end, LiteralClass::Integer)
                    }
                    _ => self.any_token(at)?,
                },
                Class::Quote if self.standard_strings && self.lexer.plain_string(at + 1).is_ok() => {
                    self.literal_at(at, self.lexer.position(), LiteralClass::String)
                }
                Class::DoubleQuote if self.lexer.quoted_ident(at + 1).is_ok() => self.quoted_at(at),
                _ if at >= text.len() => {
                    self.lexer.resume(at);
                    return self.end_of_text();
                }
                _ => self.any_token(at)?,
            };
        }
    }

    /// Reads the token at `at` with the lexer. Returns the offset of its end.
    fn any_token(&mut self, at: usize) -> Result<usize, Unsure> {
        self.lexer.resume(at);
        if let Some(token) = self.next_token()? {
            if token.bytes(self.text) == b";" {
                // A semicolon after a comment ends the statement like any other.
                return Ok(token.start as usize);
            }
            self.token(token)?;
        }
        Ok(self.lexer.position())
    }

    #[inline(always)]
    fn one_operator(&mut self, at: usize, operator: u8) -> usize {
        match operator {
            b'+' | b'-' | b'*' | b'/' | b'%' | b'^' | b'<' | b'>' | b'=' => self.symbol_at(at, operator),
            _ => {
                self.operator(&[operator]);
                at + 1
            }
        }
    }

    #[inline(always)]
    fn symbol_at(&mut self, at: usize, symbol: u8) -> usize {
        let plain = self.within == Within::Nothing
            && (self.context < Context::In || (symbol != b'(' && self.context < Context::Modifiers));
        if plain {
            self.key.push(symbol);
            self.context = match symbol {
                b'(' => Context::Open,
                b'.' => Context::Dot,
                b'[' => self.bracket(),
                _ => Context::Other,
            };
        } else {
            self.symbol(symbol);
        }
        at + 1
    }

    #[inline]
    fn literal_at(&mut self, start: usize, end: usize, class: LiteralClass) -> usize {
        self.literal(start as u32, end as u32, class);
        end
    }

    #[inline]
    fn quoted_at(&mut self, start: usize) -> usize {
        let end = self.lexer.position();
        self.quoted(start + 1, end - 1);
        end
    }

    #[inline]
    fn next_token(&mut self) -> Result<Option<Token>, Unsure> {
        self.lexer.next_token().map_err(Unsure::Lexer)
    }

    /// Only semicolons may follow a semicolon.
    fn end_of_text(&mut self) -> Result<(), Unsure> {
        while let Some(token) = self.next_token()? {
            if token.bytes(self.text) != b";" {
                return Err(Unsure::SeveralStatements);
            }
        }
        Ok(())
    }

    fn token(&mut self, token: Token) -> Result<(), Unsure> {
        let bytes = token.bytes(self.text);
        let (start, end) = (token.start, token.end);
        match token.kind {
            TokenKind::Integer if self.context == Context::FloatOpen => return Err(Unsure::FloatPrecision),
            TokenKind::Integer if self.context == Context::Bound => self.verbatim(bytes, Context::Other),
            TokenKind::Integer => self.literal(start, end, LiteralClass::Integer),
            TokenKind::Float => match class_of_number(bytes) {
                Some(class) => self.literal(start, end, class),
                None => self.verbatim(bytes, Context::Other),
            },
            TokenKind::String | TokenKind::EscapeString | TokenKind::DollarString => {
                self.literal(start, end, LiteralClass::String);
            }
            TokenKind::BitString => self.literal(start, end, LiteralClass::BitString),
            TokenKind::HexString => self.literal(start, end, LiteralClass::HexString),
            TokenKind::Param => self.param(bytes),
            TokenKind::QuotedIdent => self.quoted(start as usize + 1, end as usize - 1),
            TokenKind::National => self.national(),
            TokenKind::NotEquals => self.operator(b"<>"),
            TokenKind::Typecast
            | TokenKind::DotDot
            | TokenKind::ColonEquals
            | TokenKind::EqualsGreater
            | TokenKind::LessEquals
            | TokenKind::GreaterEquals
            | TokenKind::Operator => self.operator(bytes),
            TokenKind::Word => drop(self.word(self.text, start as usize)),
            TokenKind::Symbol => self.symbol(bytes.first().copied().unwrap_or(0)),
            TokenKind::UnicodeIdent | TokenKind::UnicodeString => return Err(Unsure::UnicodeEscapes),
            TokenKind::LineComment | TokenKind::BlockComment => {}
        }
        Ok(())
    }
}

/// The class of a number that does not fit into 31 bits. `None` for the two numbers whose type depends on a sign
/// before them: `-2147483648` has 32 bits, and `-9223372036854775808` has 64.
fn class_of_number(bytes: &[u8]) -> Option<LiteralClass> {
    let (digits, radix) = match bytes {
        [b'0', b'x' | b'X', digits @ ..] => (digits, 16),
        [b'0', b'o' | b'O', digits @ ..] => (digits, 8),
        [b'0', b'b' | b'B', digits @ ..] => (digits, 2),
        digits => (digits, 10),
    };
    let mut value = 0_u64;
    for digit in digits.iter().filter(|digit| **digit != b'_') {
        // A point or an exponent, so the number is not an integer.
        let Some(digit) = char::from(*digit).to_digit(radix) else { return Some(LiteralClass::Float) };
        value = value.saturating_mul(u64::from(radix)).saturating_add(u64::from(digit));
    }
    match value {
        INT4_MIN | INT8_MIN => None,
        value if value < INT8_MIN => Some(LiteralClass::BigInteger),
        _ => Some(LiteralClass::Float),
    }
}

/// The smallest numbers of 32 and of 64 bits, without their signs.
const INT4_MIN: u64 = 1 << 31;
const INT8_MIN: u64 = 1 << 63;

/// The end of the number at `at`, if it is an integer of at most nine digits without a letter or a point after it.
#[inline]
fn short_integer(text: &[u8], at: usize) -> Option<usize> {
    let mut end = at + 1;
    while is(byte(text, end), DIGIT) {
        end += 1;
    }
    let next = byte(text, end);
    if end - at <= 9 && next != b'.' && !is(next, WORD_START) { Some(end) } else { None }
}
