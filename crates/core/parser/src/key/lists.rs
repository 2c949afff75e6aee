//! Lists whose length does not matter.
//!
//! Their tokens are written to the key like any other. Once a list's closing parenthesis shows that it was one, what
//! was written of it is taken back: so a list that turns out to be none has cost nothing, and nothing is read twice.

use super::writer::Writer;
use super::{LiteralClass, tag};

/// What may come next in an `IN` list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expects {
    Value,
    /// A minus came, which a number takes.
    Number,
    Separator,
}

/// `IN (1, 2, 3)`, of which only such elements were read so far.
pub(super) struct InList {
    /// Where its first element is in the key.
    start: usize,
    class: Option<LiteralClass>,
    expects: Expects,
}

impl InList {
    /// A list whose opening parenthesis is the last byte of a key `start` bytes long.
    pub(super) fn new(start: usize) -> Self {
        Self { start, class: None, expects: Expects::Value }
    }

    /// Takes an element. Returns whether a minus stands before it, `None` if this is no list to be shortened.
    pub(super) fn value(&mut self, class: LiteralClass) -> Option<bool> {
        let number = matches!(class, LiteralClass::Integer | LiteralClass::BigInteger | LiteralClass::Float);
        let negative = self.expects == Expects::Number;
        let fits = self.class.is_none_or(|first| first == class);
        if !fits || self.expects == Expects::Separator || (negative && !number) {
            return None;
        }
        self.class = Some(class);
        self.expects = Expects::Separator;
        Some(negative)
    }

    /// Takes a comma; false if this is no list to be shortened.
    pub(super) fn comma(&mut self) -> bool {
        let fits = self.expects == Expects::Separator;
        self.expects = Expects::Value;
        fits
    }

    /// Takes a minus, likewise.
    pub(super) fn minus(&mut self) -> bool {
        let fits = self.expects == Expects::Value;
        self.expects = Expects::Number;
        fits
    }

    /// The closing parenthesis has come, which is not yet in the key.
    pub(super) fn close(&self, key: &mut Writer) {
        if self.expects != Expects::Separator {
            return;
        }
        if let Some(class) = self.class {
            key.truncate(self.start);
            key.push(tag::LIST);
            key.push(class as u8);
        }
    }
}

/// `(1, 'a'), (2, 'b')`: rows in parentheses, of which one that is like the row before it is taken back.
pub(super) struct Rows {
    /// Only values and commas may be inside. In `IN ((SELECT 1))` the parentheses are those of a subselect, in
    /// `IN ((SELECT 1), (SELECT 2))` those of a list.
    flat: bool,
    depth: u32,
    /// Whether a comma follows the last row.
    separated: bool,
    /// Where the row is in the key.
    row: usize,
    /// Where the row before it is.
    previous: Option<std::ops::Range<usize>>,
    /// Whether the row has a literal or parameter. Names alone may be those of columns.
    has_value: bool,
}

impl Rows {
    /// No row yet; `flat` ones may hold only values and commas.
    pub(super) fn new(flat: bool) -> Self {
        Self { flat, depth: 0, separated: true, row: 0, previous: None, has_value: false }
    }

    /// Takes an opening parenthesis that is not yet in the key; false if it ends the rows.
    pub(super) fn open(&mut self, key: &Writer) -> bool {
        if self.depth > 0 {
            self.depth += 1;
            return !self.flat;
        }
        let fits = self.separated;
        self.separated = false;
        self.row = key.len();
        self.has_value = false;
        self.depth = 1;
        fits
    }

    /// Takes a closing parenthesis that is the last byte of the key.
    pub(super) fn close(&mut self, key: &mut Writer) {
        self.depth = self.depth.saturating_sub(1);
        if self.depth > 0 {
            return;
        }
        if let Some(previous) = self.previous.clone()
            && self.has_value
            && key.key().get(previous.clone()) == key.key().get(self.row..)
        {
            key.truncate(previous.end);
        } else {
            self.previous = Some(self.row..key.len());
        }
    }

    /// Takes a comma; false if it ends the rows.
    pub(super) fn comma(&mut self) -> bool {
        let fits = self.depth > 0 || !self.separated;
        self.separated |= self.depth == 0;
        fits
    }

    /// Takes a literal or parameter; false if it ends the rows.
    pub(super) fn value(&mut self) -> bool {
        self.has_value = true;
        self.depth > 0
    }

    /// Takes anything but values, commas and parentheses; false if it ends the rows.
    pub(super) fn other(&self) -> bool {
        self.depth > 0 && !self.flat
    }

    /// Whether no row is open.
    pub(super) fn between(&self) -> bool {
        self.depth == 0
    }
}
