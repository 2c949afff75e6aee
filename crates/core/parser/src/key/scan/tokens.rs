//! Writes each token to the key, and keeps track of its meaning for the tokens after it.

use super::super::lists::{InList, Rows};
use super::super::word::{Special, may_be_special, special};
use super::super::{LITERALS_MAX, Literal, LiteralClass, Unsure, tag};
use super::{Context, Scan, Within};
use crate::lexer::class::{WORD, byte, is};
use crate::lexer::wide::{CHUNK, word_chunk};

impl Scan<'_, '_> {
    /// The bytes of the key from `start` on.
    #[inline]
    pub(super) fn written(&self, start: usize) -> &[u8] {
        self.key.key().get(start..).unwrap_or_default()
    }

    /// Writes the word at `at` in lower case. Returns the offset of its end.
    #[inline(always)]
    pub(super) fn write_word(&mut self, text: &[u8], at: usize) -> usize {
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

    /// Reads the word at `at`. Returns the offset of its end.
    #[inline(always)]
    pub(super) fn word(&mut self, text: &[u8], at: usize) -> usize {
        self.token_that_is_no_list_value();
        let end = self.write_word(text, at);
        let before = std::mem::replace(&mut self.context, Context::Other);
        if may_be_special(end - at, byte(text, at)) {
            self.special(end - at, before);
        }
        end
    }

    /// Handles a word that may have a special meaning: the last `length` bytes of the key.
    fn special(&mut self, length: usize, before: Context) {
        let Some(special) = special(self.written(self.key.len() - length)) else { return };
        // After a dot any word is a name. Only the names that change settings still count.
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

    /// VALUES begins rows at the beginning of a subselect, after a set operation and in INSERT. Elsewhere it is a
    /// name, and parentheses after it have another meaning.
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

    /// Handles the `N` of `N'...'`, which means the keyword NCHAR.
    pub(super) fn national(&mut self) {
        self.token_that_is_no_list_value();
        self.key.push(tag::WORD);
        self.key.extend(b"nchar");
        self.context = Context::Other;
    }

    /// Handles a quoted name between `from` and `to`.
    #[inline]
    pub(super) fn quoted(&mut self, from: usize, to: usize) {
        let name = self.text.get(from..to).unwrap_or_default();
        if may_be_special(name.len(), byte(name, 0)) && special(name) == Some(Special::Settings) {
            self.unsure = Some(Unsure::Settings);
        }
        self.token_that_is_no_list_value();
        self.key.push(tag::QUOTED);
        match self.text.get(from..).and_then(|rest| rest.first_chunk()) {
            Some(chunk) if name.len() <= CHUNK => self.key.push_chunk(chunk, name.len()),
            _ => self.key.extend(name),
        }
        self.key.push(tag::QUOTED_END);
        self.context = Context::Other;
    }

    pub(super) fn operator(&mut self, bytes: &[u8]) {
        self.token_that_is_no_list_value();
        self.key.push(tag::OPERATOR);
        // An operator has at most 63 bytes.
        self.key.push(bytes.len() as u8);
        self.key.extend(bytes);
        self.context = Context::Other;
    }

    pub(super) fn symbol(&mut self, symbol: u8) {
        match symbol {
            b'(' => self.open(),
            b')' => self.close(),
            b',' => self.comma(),
            b'-' => self.minus(),
            b'.' | b'[' | b']' | b':' | b'+' | b'*' | b'/' | b'%' | b'^' | b'<' | b'>' | b'=' => {
                self.token_that_is_no_list_value();
                self.key.push(symbol);
                self.context = match symbol {
                    b'.' => Context::Dot,
                    b'[' => self.bracket(),
                    _ => Context::Other,
                };
            }
            _ => self.unsure = Some(Unsure::StrayCharacter),
        }
    }

    /// The meaning of a `[` that is the last byte of the key. After ARRAY it begins an array with literals. After a
    /// type, which may also end with ARRAY, it begins a bound.
    pub(super) fn bracket(&self) -> Context {
        let key = self.key.key();
        let before = key.strip_suffix(b"[").unwrap_or(key);
        match before.strip_suffix(b" array").unwrap_or(before).last() {
            Some(b')' | b']' | &tag::QUOTED_END) => Context::Bound,
            Some(last) if is(*last, WORD) => Context::Bound,
            _ => Context::Other,
        }
    }

    /// Writes a literal itself to the key, because a type depends on its value.
    pub(super) fn verbatim(&mut self, bytes: &[u8], then: Context) {
        self.token_that_is_no_list_value();
        self.key.push(tag::VERBATIM);
        self.key.extend(bytes);
        self.context = then;
    }

    /// Handles a literal if it is a modifier of a type: if another modifier is before it, or if the key ends with a
    /// type and a parenthesis. Otherwise returns false.
    #[inline(never)]
    fn modifier(&mut self, start: u32, end: u32) -> bool {
        let is_one = self.context == Context::Modifiers || ends_with_type(self.key.key());
        if is_one {
            let bytes = self.text.get(start as usize..end as usize).unwrap_or_default();
            self.verbatim(bytes, Context::Modifier);
        }
        is_one
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
            Within::Rows if self.rows.is_between_rows() => self.end_rows(),
            Within::Rows => {
                self.key.push(b')');
                self.rows.close(&mut self.key);
                return;
            }
        }
        self.key.push(b')');
    }

    fn comma(&mut self) {
        self.context = if self.context == Context::Modifier { Context::Modifiers } else { Context::Other };
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
        if self.context != Context::Modifiers {
            self.context = Context::Other;
        }
        match self.within {
            Within::Nothing => {}
            Within::List if self.list.minus() => {}
            _ => self.token_that_is_no_list_value(),
        }
        self.key.push(b'-');
    }

    #[inline]
    pub(super) fn literal(&mut self, start: u32, end: u32, class: LiteralClass) {
        if matches!(self.context, Context::Open | Context::Modifiers) && self.modifier(start, end) {
            return;
        }
        self.context = Context::Other;
        let mut negative = false;
        match self.within {
            Within::Nothing => {}
            Within::List => match self.list.value(class) {
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

    pub(super) fn param(&mut self, bytes: &[u8]) {
        self.context = Context::Other;
        // The lexer accepts only numbers of at most 31 bits.
        let number = bytes.iter().skip(1).fold(0_u32, |number, digit| {
            number.wrapping_mul(10).wrapping_add(u32::from(digit.wrapping_sub(b'0')))
        });
        self.largest_parameter = self.largest_parameter.max(number);
        // Every parameter is in the key, so that all texts with the same key have the same parameters.
        match self.within {
            Within::Nothing => {}
            Within::List => self.within = Within::Nothing,
            Within::Rows if self.rows.value() => {}
            Within::Rows => self.end_rows(),
        }
        self.key.push(tag::PARAM);
        self.key.push_number(number);
    }

    /// Handles a token that is not a value of a list.
    #[inline]
    fn token_that_is_no_list_value(&mut self) {
        match self.within {
            Within::Nothing => {}
            Within::List => self.within = Within::Nothing,
            Within::Rows if self.rows.other_token() => {}
            Within::Rows => self.end_rows(),
        }
    }

    pub(super) fn end_rows(&mut self) {
        if self.within == Within::Rows {
            self.within = Within::Nothing;
        }
    }
}

/// The highest number of parts of a dotted name that are looked at.
const NAMES_MAX: usize = 4;

/// Whether a key ends with the name of a type and a parenthesis. The name is a type that the grammar knows, or a name
/// after `::` or AS.
fn ends_with_type(key: &[u8]) -> bool {
    let Some(mut rest) = key.strip_suffix(b"(") else { return false };
    for index in 0..NAMES_MAX {
        let Some(before) = before_name(rest) else { return false };
        let is_own = index == 0 && is_grammar_type(rest.get(before.len()..).unwrap_or_default());
        match before.strip_suffix(b".") {
            Some(qualifiers) => rest = qualifiers,
            None => {
                return is_own
                    || before.ends_with(b" as")
                    || before.ends_with(&[tag::OPERATOR, 2, b':', b':']);
            }
        }
    }
    false
}

/// The part of a key before the name at its end; `None` if it does not end with a name.
fn before_name(key: &[u8]) -> Option<&[u8]> {
    let begins = match key.split_last()? {
        (&tag::QUOTED_END, inside) => inside.iter().rposition(|byte| *byte == tag::QUOTED)?,
        _ => key.iter().rposition(|byte| !is(*byte, WORD))?,
    };
    matches!(key.get(begins), Some(&(tag::WORD | tag::QUOTED))).then(|| key.get(..begins))?
}

/// Whether a word, with the tag before it, is a type that the grammar knows and that may have modifiers.
fn is_grammar_type(word: &[u8]) -> bool {
    matches!(
        word,
        b" numeric"
            | b" decimal"
            | b" dec"
            | b" char"
            | b" character"
            | b" nchar"
            | b" varchar"
            | b" varying"
            | b" bit"
            | b" time"
            | b" timestamp"
            | b" interval"
            | b" second"
    )
}
