//! The pass over the text.

use super::lists::{InList, Rows, Value};
use super::{KEYED_TEXT_MAX, Key, KeyBuffer, LITERALS_MAX, Literal, LiteralClass, ScanKey, Unsure, tag};
use crate::lexer::{Lexer, Token, TokenKind};

/// What the tokens just read mean for the next one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    /// Nothing but opening parentheses so far.
    Start,
    /// No more than what stands here for the rest.
    Other,
    /// `.`, behind which every word is a name.
    Dot,
    /// `(`
    Open,
    /// `)`
    Close,
    /// UNION, EXCEPT, INTERSECT or their ALL and DISTINCT.
    SetOperation,
    /// INSERT
    Insert,
    /// INTO or AS, behind which VALUES is a name.
    Into,
    /// IN, and `IN (`.
    In,
    InOpen,
    /// VALUES that begins rows.
    Values,
    /// POSITION
    Position,
    /// FLOAT, and `FLOAT (`.
    Float,
    FloatOpen,
}

struct Scan<'t, 'b> {
    text: &'t [u8],
    key: &'b mut Vec<u8>,
    literals: &'b mut Vec<Literal>,
    all_literals: bool,
    context: Context,
    /// Between INSERT INTO and its VALUES.
    inserting: bool,
    /// `POSITION (` was met, in which IN is no list.
    position: bool,
    /// A semicolon was met.
    ended: bool,
    list: Option<InList>,
    rows: Option<Rows>,
}

pub(super) fn scan<'b>(text: &[u8], buffer: &'b mut KeyBuffer, standard_strings: bool) -> ScanKey<'b> {
    buffer.clear();
    if text.len() > KEYED_TEXT_MAX {
        return ScanKey::Unsure(Unsure::TooLong);
    }
    let mut lexer = Lexer::new(text).standard_conforming_strings(standard_strings);
    let mut scan = Scan {
        text,
        key: &mut buffer.bytes,
        literals: &mut buffer.literals,
        all_literals: true,
        context: Context::Start,
        inserting: false,
        position: false,
        ended: false,
        list: None,
        rows: None,
    };
    match scan.tokens(&mut lexer) {
        Err(unsure) => ScanKey::Unsure(unsure),
        Ok(()) => {
            let all_literals = scan.all_literals;
            ScanKey::Sure(Key {
                bytes: &buffer.bytes,
                literals: &buffer.literals,
                all_literals,
                has_comments: lexer.comments_seen(),
            })
        }
    }
}

impl Scan<'_, '_> {
    fn tokens(&mut self, lexer: &mut Lexer<'_>) -> Result<(), Unsure> {
        while let Some(token) = lexer.next_token().map_err(Unsure::Lexer)? {
            self.token(token)?;
        }
        if let Some(rows) = self.rows.take() {
            rows.finish(self.key);
        }
        if self.context == Context::Start { Err(Unsure::Empty) } else { Ok(()) }
    }

    #[inline]
    fn token(&mut self, token: Token) -> Result<(), Unsure> {
        let bytes = token.bytes(self.text);
        if self.ended && bytes != b";" {
            return Err(Unsure::SeveralStatements);
        }
        match token.kind {
            TokenKind::Word => self.word(bytes),
            TokenKind::Symbol => self.symbol(bytes),
            TokenKind::Integer if self.context == Context::FloatOpen => Err(Unsure::FloatPrecision),
            TokenKind::Integer => self.literal(token, LiteralClass::Integer),
            TokenKind::Float => self.literal(token, LiteralClass::Float),
            TokenKind::String | TokenKind::EscapeString | TokenKind::DollarString => {
                self.literal(token, LiteralClass::String)
            }
            TokenKind::BitString => self.literal(token, LiteralClass::BitString),
            TokenKind::HexString => self.literal(token, LiteralClass::HexString),
            TokenKind::Param => self.param(bytes),
            TokenKind::QuotedIdent => self.quoted(bytes),
            TokenKind::National => self.word(b"nchar"),
            TokenKind::NotEquals => self.operator(b"<>"),
            TokenKind::Typecast
            | TokenKind::DotDot
            | TokenKind::ColonEquals
            | TokenKind::EqualsGreater
            | TokenKind::LessEquals
            | TokenKind::GreaterEquals
            | TokenKind::Operator => self.operator(bytes),
            TokenKind::UnicodeIdent | TokenKind::UnicodeString => Err(Unsure::UnicodeEscapes),
            TokenKind::LineComment | TokenKind::BlockComment => Ok(()),
        }
    }

    fn word(&mut self, bytes: &[u8]) -> Result<(), Unsure> {
        self.other_than_value();
        self.key.push(tag::WORD);
        let start = self.key.len();
        self.key.extend(bytes.iter().map(u8::to_ascii_lowercase));
        let before = self.context;
        self.context = Context::Other;
        let word = self.key.get(start..).unwrap_or_default();
        if before == Context::Start {
            return self.first_word(start);
        }
        // Behind a dot, any word is a name; only what names a setting still counts.
        if before == Context::Dot {
            return if names_settings(word) { Err(Unsure::Settings) } else { Ok(()) };
        }
        match word {
            b"in" if !self.position && self.rows.is_none() => self.context = Context::In,
            b"as" => self.context = Context::Into,
            b"into" => {
                self.inserting = before == Context::Insert;
                self.context = Context::Into;
            }
            b"insert" => self.context = Context::Insert,
            b"select" | b"from" | b"table" => self.inserting = false,
            b"all" | b"union" | b"except" | b"intersect" | b"distinct" => {
                self.context = Context::SetOperation
            }
            b"float" => self.context = Context::Float,
            b"position" => self.context = Context::Position,
            b"values" => self.values(before),
            _ if names_settings(word) => return Err(Unsure::Settings),
            _ => {}
        }
        Ok(())
    }

    /// The word a statement begins with is at `start` of the key.
    fn first_word(&mut self, start: usize) -> Result<(), Unsure> {
        match self.key.get(start..).unwrap_or_default() {
            b"select" | b"update" | b"delete" | b"merge" | b"with" | b"table" => {}
            b"insert" => self.context = Context::Insert,
            b"values" => self.context = Context::Values,
            _ => return Err(Unsure::Utility),
        }
        Ok(())
    }

    /// VALUES begins rows at the beginning of a statement or subselect, behind a set operation and in INSERT.
    /// Elsewhere it is a name, behind which parentheses mean something else.
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

    fn quoted(&mut self, bytes: &[u8]) -> Result<(), Unsure> {
        let name = bytes.get(1..bytes.len().saturating_sub(1)).unwrap_or_default();
        self.not_at_start()?;
        if names_settings(name) {
            return Err(Unsure::Settings);
        }
        self.other_than_value();
        self.key.push(tag::QUOTED);
        self.key.extend_from_slice(name);
        self.key.push(tag::QUOTED_END);
        self.context = Context::Other;
        Ok(())
    }

    fn operator(&mut self, bytes: &[u8]) -> Result<(), Unsure> {
        self.not_at_start()?;
        self.other_than_value();
        self.key.push(tag::OPERATOR);
        // An operator has at most 63 bytes.
        self.key.push(bytes.len() as u8);
        self.key.extend_from_slice(bytes);
        self.context = Context::Other;
        Ok(())
    }

    fn symbol(&mut self, bytes: &[u8]) -> Result<(), Unsure> {
        let symbol = bytes.first().copied().unwrap_or(0);
        match symbol {
            b'(' => self.open(),
            b')' => self.close()?,
            b',' => self.comma()?,
            b';' => {
                self.not_at_start()?;
                self.ended = true;
            }
            b'-' => {
                self.not_at_start()?;
                self.minus();
            }
            b'.' | b'[' | b']' | b':' | b'+' | b'*' | b'/' | b'%' | b'^' | b'<' | b'>' | b'=' => {
                self.not_at_start()?;
                self.other_than_value();
                self.key.push(symbol);
                self.context = if symbol == b'.' { Context::Dot } else { Context::Other };
            }
            _ => return Err(Unsure::StrayCharacter),
        }
        Ok(())
    }

    fn open(&mut self) {
        let before = self.context;
        if before == Context::InOpen && self.rows.is_none() {
            self.rows = Some(Rows::flat());
        } else if before == Context::Values && self.rows.is_none() {
            self.rows = Some(Rows::any());
        }
        self.list = None;
        if let Some(rows) = &mut self.rows
            && !rows.open(self.key)
        {
            self.end_rows();
        }
        self.key.push(b'(');
        self.context = match before {
            Context::Start => Context::Start,
            Context::Float => Context::FloatOpen,
            Context::In => {
                self.list = Some(InList::new(self.key.len()));
                Context::InOpen
            }
            Context::Position => {
                self.position = true;
                Context::Open
            }
            _ => Context::Open,
        };
    }

    fn close(&mut self) -> Result<(), Unsure> {
        self.not_at_start()?;
        if let Some(list) = self.list.take() {
            list.close(self.key);
        }
        if self.rows.as_ref().is_some_and(Rows::between) {
            self.end_rows();
        }
        self.key.push(b')');
        if let Some(rows) = &mut self.rows {
            rows.close(self.key);
        }
        self.context = Context::Close;
        Ok(())
    }

    fn comma(&mut self) -> Result<(), Unsure> {
        self.not_at_start()?;
        if let Some(list) = &mut self.list
            && !list.comma()
        {
            self.list = None;
        }
        if let Some(rows) = &mut self.rows
            && !rows.comma()
        {
            self.end_rows();
        }
        self.key.push(b',');
        self.context = Context::Other;
        Ok(())
    }

    fn minus(&mut self) {
        if let Some(list) = &mut self.list
            && !list.minus()
        {
            self.list = None;
        }
        if let Some(rows) = &mut self.rows
            && !rows.other()
        {
            self.end_rows();
        }
        self.key.push(b'-');
        self.context = Context::Other;
    }

    #[inline]
    fn literal(&mut self, token: Token, class: LiteralClass) -> Result<(), Unsure> {
        self.not_at_start()?;
        let mut negative = false;
        if let Some(list) = &mut self.list {
            match list.value(Value::Literal(class)) {
                Some(minus) => negative = minus,
                None => self.list = None,
            }
        }
        if let Some(rows) = &mut self.rows
            && !rows.value()
        {
            self.end_rows();
        }
        if self.literals.len() < LITERALS_MAX {
            self.literals.push(Literal { start: token.start, end: token.end, class, negative });
        } else {
            self.all_literals = false;
        }
        self.key.push(class as u8);
        self.context = Context::Other;
        Ok(())
    }

    fn param(&mut self, bytes: &[u8]) -> Result<(), Unsure> {
        self.not_at_start()?;
        // The lexer lets through no more than 31 bits.
        let number = bytes.iter().skip(1).fold(0_u32, |number, digit| {
            number.wrapping_mul(10).wrapping_add(u32::from(digit.wrapping_sub(b'0')))
        });
        if let Some(list) = &mut self.list
            && list.value(Value::Param(number)).is_none()
        {
            self.list = None;
        }
        let mut follows = false;
        if let Some(rows) = &mut self.rows {
            if rows.value() {
                follows = rows.param(number);
            } else {
                self.end_rows();
            }
        }
        if follows {
            self.key.push(tag::PARAM_NEXT);
        } else {
            push_number(self.key, tag::PARAM, number);
        }
        self.context = Context::Other;
        Ok(())
    }

    /// A token came that no list of values holds.
    #[inline]
    fn other_than_value(&mut self) {
        self.list = None;
        if let Some(rows) = &mut self.rows
            && !rows.other()
        {
            self.end_rows();
        }
    }

    fn end_rows(&mut self) {
        if let Some(rows) = self.rows.take() {
            rows.finish(self.key);
        }
    }

    /// Refuses a token that no statement begins with.
    #[inline]
    fn not_at_start(&self) -> Result<(), Unsure> {
        if self.context == Context::Start { Err(Unsure::Utility) } else { Ok(()) }
    }
}

/// Whether a name lets literals decide which setting of the session changes. `pg_settings` is a view whose UPDATE
/// calls `set_config`.
fn names_settings(name: &[u8]) -> bool {
    matches!(name, b"set_config" | b"pg_settings")
}

/// Writes a tag and a number in decimal.
pub(super) fn push_number(key: &mut Vec<u8>, tag: u8, number: u32) {
    key.push(tag);
    let start = key.len();
    let mut rest = number;
    loop {
        key.push(b'0' + (rest % 10) as u8);
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if let Some(digits) = key.get_mut(start..) {
        digits.reverse();
    }
}
