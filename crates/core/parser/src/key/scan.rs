//! The pass over the text.
//!
//! Words, spaces and punctuation are most of a statement and are read right here; what is left goes through the
//! lexer. A test holds both ways against each other.

use super::lists::{InList, Rows, Value};
use super::word::{Special, may_be_special, special};
use super::writer::Writer;
use super::{KEYED_TEXT_MAX, Key, KeyBuffer, LITERALS_MAX, Literal, LiteralClass, ScanKey, Unsure, tag};
use crate::lexer::class::{CLASS, Class, DIGIT, OPERATOR, WORD_START, byte, is};
use crate::lexer::wide::{CHUNK, word_chunk};
use crate::lexer::{Lexer, Token, TokenKind};

/// What the token just read means for the next one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Context {
    Other,
    /// `.`, behind which every word is a name.
    Dot,
    /// `(`
    Open,
    /// UNION, EXCEPT, INTERSECT or their ALL and DISTINCT.
    SetOperation,
    Insert,
    /// INTO or AS, behind which VALUES is a name.
    Into,
    // Behind what is below, an opening parenthesis begins something.
    In,
    /// `IN (`
    InOpen,
    /// VALUES that begins rows.
    Values,
    Position,
    Float,
    /// `FLOAT (`
    FloatOpen,
}

/// What is being read that may be shortened.
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
    context: Context,
    within: Within,
    list: InList,
    rows: Rows,
    /// Between INSERT INTO and its VALUES.
    inserting: bool,
    /// `POSITION (` was met, in which IN is no list.
    position: bool,
    standard_strings: bool,
    /// Why the text has no key, as far as words and punctuation tell.
    unsure: Option<Unsure>,
}

/// Scans `text`; with `by_lexer` every token goes through the lexer.
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
    buffer.bytes = scan.key;
    match outcome {
        Err(unsure) => ScanKey::Unsure(unsure),
        Ok(()) => {
            let (bytes, literals) = (buffer.bytes.key(), buffer.literals.as_slice());
            ScanKey::Sure(Key { bytes, literals, all_literals, has_comments })
        }
    }
}

impl Scan<'_, '_> {
    #[inline]
    fn statement(&mut self, by_lexer: bool) -> Result<(), Unsure> {
        self.beginning()?;
        if by_lexer {
            self.rest_by_lexer()?
        } else {
            self.rest()?
        }
        self.end_rows();
        self.unsure.map_or(Ok(()), Err)
    }

    /// Opening parentheses and the first word.
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
                    Some(end) if self.context != Context::FloatOpen => {
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

    /// Reads the token at `at` by the lexer. Returns where it ends.
    fn any_token(&mut self, at: usize) -> Result<usize, Unsure> {
        self.lexer.resume(at);
        if let Some(token) = self.next_token()? {
            if token.bytes(self.text) == b";" {
                // It came behind a comment, and ends the statement as any other.
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
        let plain = self.within == Within::Nothing && (symbol != b'(' || self.context < Context::In);
        if plain {
            self.key.push(symbol);
            self.context = match symbol {
                b'(' => Context::Open,
                b'.' => Context::Dot,
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

    /// Behind a semicolon there must be nothing but others.
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
            TokenKind::Integer => self.literal(start, end, LiteralClass::Integer),
            TokenKind::Float => self.literal(start, end, LiteralClass::Float),
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

    /// What was written from `start` on.
    #[inline]
    fn written(&self, start: usize) -> &[u8] {
        self.key.key().get(start..).unwrap_or_default()
    }

    /// Writes the word at `at` in lower case. Returns where it ends.
    #[inline(always)]
    fn write_word(&mut self, text: &[u8], at: usize) -> usize {
        let chunk = word_chunk(text, at);
        self.key.push_tagged(tag::WORD, &chunk.folded, chunk.length);
        let end = at + chunk.length;
        if chunk.length < CHUNK { end } else { self.write_rest_of_word(text, end) }
    }

    #[inline(never)]
    fn write_rest_of_word(&mut self, text: &[u8], from: usize) -> usize {
        let mut end = from;
        loop {
            let chunk = word_chunk(text, end);
            self.key.push_chunk(&chunk.folded, chunk.length);
            end += chunk.length;
            if chunk.length < CHUNK {
                return end;
            }
        }
    }

    /// Reads the word at `at`. Returns where it ends.
    #[inline(always)]
    fn word(&mut self, text: &[u8], at: usize) -> usize {
        self.other_than_value();
        let end = self.write_word(text, at);
        let before = std::mem::replace(&mut self.context, Context::Other);
        if may_be_special(end - at, byte(text, at)) {
            self.special(end - at, before);
        }
        end
    }

    /// The last `length` bytes of the key are a word that may mean something.
    fn special(&mut self, length: usize, before: Context) {
        let Some(special) = special(self.written(self.key.len() - length)) else { return };
        // Behind a dot, any word is a name; only what names settings still counts.
        if before == Context::Dot && special != Special::Settings {
            return;
        }
        match special {
            Special::Settings => self.unsure = Some(Unsure::Settings),
            Special::In if !self.position && self.within != Within::Rows => self.context = Context::In,
            Special::In => {}
            Special::As => self.context = Context::Into,
            Special::Into => {
                self.inserting = before == Context::Insert;
                self.context = Context::Into;
            }
            Special::Insert => self.context = Context::Insert,
            Special::Source => self.inserting = false,
            Special::SetOperation => self.context = Context::SetOperation,
            Special::Float => self.context = Context::Float,
            Special::Position => self.context = Context::Position,
            Special::Values => self.values(before),
        }
    }

    /// VALUES begins rows at the beginning of a subselect, behind a set operation and in INSERT. Elsewhere it is a
    /// name, behind which parentheses mean something else.
    fn values(&mut self, before: Context) {
        let begins_rows = match before {
            Context::Open | Context::InOpen | Context::SetOperation => true,
            Context::Into => false,
            _ => self.inserting,
        };
        if begins_rows {
            self.context = Context::Values;
        }
        self.inserting = false;
    }

    /// The `N` of `N'...'` is the key word NCHAR.
    fn national(&mut self) {
        self.other_than_value();
        self.key.push(tag::WORD);
        self.key.extend(b"nchar");
        self.context = Context::Other;
    }

    /// A quoted name between `from` and `to`.
    #[inline]
    fn quoted(&mut self, from: usize, to: usize) {
        let name = self.text.get(from..to).unwrap_or_default();
        if may_be_special(name.len(), byte(name, 0)) && special(name) == Some(Special::Settings) {
            self.unsure = Some(Unsure::Settings);
        }
        self.other_than_value();
        self.key.push(tag::QUOTED);
        match self.text.get(from..).and_then(|rest| rest.first_chunk()) {
            Some(chunk) if name.len() <= CHUNK => self.key.push_chunk(chunk, name.len()),
            _ => self.key.extend(name),
        }
        self.key.push(tag::QUOTED_END);
        self.context = Context::Other;
    }

    fn operator(&mut self, bytes: &[u8]) {
        self.other_than_value();
        self.key.push(tag::OPERATOR);
        // An operator has at most 63 bytes.
        self.key.push(bytes.len() as u8);
        self.key.extend(bytes);
        self.context = Context::Other;
    }

    fn symbol(&mut self, symbol: u8) {
        match symbol {
            b'(' => self.open(),
            b')' => self.close(),
            b',' => self.comma(),
            b'-' => self.minus(),
            b'.' | b'[' | b']' | b':' | b'+' | b'*' | b'/' | b'%' | b'^' | b'<' | b'>' | b'=' => {
                self.other_than_value();
                self.key.push(symbol);
                self.context = if symbol == b'.' { Context::Dot } else { Context::Other };
            }
            _ => self.unsure = Some(Unsure::StrayCharacter),
        }
    }

    fn open(&mut self) {
        let before = std::mem::replace(&mut self.context, Context::Open);
        if self.within == Within::List {
            self.within = Within::Nothing;
        }
        if self.within == Within::Nothing && matches!(before, Context::InOpen | Context::Values) {
            self.within = Within::Rows;
            self.rows = Rows::new(before == Context::InOpen);
        }
        if self.within == Within::Rows && !self.rows.open(&self.key) {
            self.end_rows();
        }
        self.key.push(b'(');
        match before {
            Context::Float => self.context = Context::FloatOpen,
            Context::Position => self.position = true,
            Context::In => {
                self.within = Within::List;
                self.list = InList::new(self.key.len());
                self.context = Context::InOpen;
            }
            _ => {}
        }
    }

    fn close(&mut self) {
        self.context = Context::Other;
        match self.within {
            Within::Nothing => {}
            Within::List => {
                self.list.close(&mut self.key);
                self.within = Within::Nothing;
            }
            Within::Rows if self.rows.between() => self.end_rows(),
            Within::Rows => {
                self.key.push(b')');
                self.rows.close(&mut self.key);
                return;
            }
        }
        self.key.push(b')');
    }

    fn comma(&mut self) {
        self.context = Context::Other;
        match self.within {
            Within::Nothing => {}
            Within::List if self.list.comma() => {}
            Within::List => self.within = Within::Nothing,
            Within::Rows if self.rows.comma() => {}
            Within::Rows => self.end_rows(),
        }
        self.key.push(b',');
    }

    fn minus(&mut self) {
        self.context = Context::Other;
        match self.within {
            Within::Nothing => {}
            Within::List if self.list.minus() => {}
            _ => self.other_than_value(),
        }
        self.key.push(b'-');
    }

    #[inline]
    fn literal(&mut self, start: u32, end: u32, class: LiteralClass) {
        self.context = Context::Other;
        let mut negative = false;
        match self.within {
            Within::Nothing => {}
            Within::List => match self.list.value(Value::Literal(class)) {
                Some(minus) => negative = minus,
                None => self.within = Within::Nothing,
            },
            Within::Rows if self.rows.value() => {}
            Within::Rows => self.end_rows(),
        }
        if self.literals.len() < LITERALS_MAX {
            self.literals.push(Literal { start, end, class, negative });
        } else {
            self.all_literals = false;
        }
        self.key.push(class as u8);
    }

    fn param(&mut self, bytes: &[u8]) {
        self.context = Context::Other;
        // The lexer lets through no more than 31 bits.
        let number = bytes.iter().skip(1).fold(0_u32, |number, digit| {
            number.wrapping_mul(10).wrapping_add(u32::from(digit.wrapping_sub(b'0')))
        });
        match self.within {
            Within::Nothing => {}
            Within::List => {
                if self.list.value(Value::Param(number)).is_none() {
                    self.within = Within::Nothing;
                }
            }
            Within::Rows if self.rows.value() => {
                if self.rows.param(number) {
                    self.key.push(tag::PARAM_NEXT);
                    return;
                }
            }
            Within::Rows => self.end_rows(),
        }
        self.key.push(tag::PARAM);
        self.key.push_number(number);
    }

    /// A token comes that is no value of a list.
    #[inline]
    fn other_than_value(&mut self) {
        match self.within {
            Within::Nothing => {}
            Within::List => self.within = Within::Nothing,
            Within::Rows if self.rows.other() => {}
            Within::Rows => self.end_rows(),
        }
    }

    fn end_rows(&mut self) {
        if self.within == Within::Rows {
            self.rows.finish(&mut self.key);
            self.within = Within::Nothing;
        }
    }
}

/// Where the number at `at` ends if it is an integer of at most nine digits with neither a letter nor a point behind.
#[inline]
fn short_integer(text: &[u8], at: usize) -> Option<usize> {
    let mut end = at + 1;
    while is(byte(text, end), DIGIT) {
        end += 1;
    }
    let next = byte(text, end);
    if end - at <= 9 && next != b'.' && !is(next, WORD_START) { Some(end) } else { None }
}
