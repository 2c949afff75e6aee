//! Shortens lists in keys, so that the length of a list makes no difference.
//!
//! The tokens of a list are written to the key like other tokens. When the closing parenthesis shows that it was a
//! list of literals, its tokens are removed again and replaced. So no text is read twice, and other lists cost
//! nothing.

use super::writer::Writer;
use super::{LiteralClass, tag};

/// The token that may come next in an `IN` list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expects {
    Value,
    /// A number, because a minus came.
    Number,
    Separator,
}

/// An `IN (1, 2, 3)` that has had only literals so far.
pub(super) struct InList {
    /// The offset of its first element in the key.
    start: usize,
    class: Option<LiteralClass>,
    expects: Expects,
}

impl InList {
    /// A list whose opening parenthesis is the last byte of a key with `start` bytes.
    pub(super) fn new(start: usize) -> Self {
        Self { start, class: None, expects: Expects::Value }
    }

    /// Handles an element. Returns whether a minus is before it; `None` if the list cannot be shortened.
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

    /// Handles a comma. Returns false if the list cannot be shortened.
    pub(super) fn comma(&mut self) -> bool {
        let fits = self.expects == Expects::Separator;
        self.expects = Expects::Value;
        fits
    }

    /// Handles a minus. Returns false if the list cannot be shortened.
    pub(super) fn minus(&mut self) -> bool {
        let fits = self.expects == Expects::Value;
        self.expects = Expects::Number;
        fits
    }

    /// Handles the closing parenthesis, which is not in the key yet, and shortens the list.
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

/// Rows in parentheses: `(1, 'a'), (2, 'b')`. A row with the same key as the row before it is removed from the key.
pub(super) struct Rows {
    /// Whether only values and commas may be inside the rows. This is set for IN, because in `IN ((SELECT 1))` the
    /// parentheses belong to a subselect, but in `IN ((SELECT 1), (SELECT 2))` to a list.
    flat: bool,
    depth: u32,
    /// Whether a comma follows the last row.
    separated: bool,
    /// The offset of the current row in the key.
    row: usize,
    /// The place of the row before it in the key.
    previous: Option<std::ops::Range<usize>>,
    /// Whether the row has a literal or a parameter. A row of only names may be a list of columns.
    has_value: bool,
}

impl Rows {
    /// Rows, none of which was read yet. If `flat` is set, they may have only values and commas.
    pub(super) fn new(flat: bool) -> Self {
        Self { flat, depth: 0, separated: true, row: 0, previous: None, has_value: false }
    }

    /// Handles an opening parenthesis that is not in the key yet. Returns false if it ends the rows.
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

    /// Handles a closing parenthesis that is the last byte of the key.
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

    /// Handles a comma. Returns false if it ends the rows.
    pub(super) fn comma(&mut self) -> bool {
        let fits = self.depth > 0 || !self.separated;
        self.separated |= self.depth == 0;
        fits
    }

    /// Handles a literal or a parameter. Returns false if it ends the rows.
    pub(super) fn value(&mut self) -> bool {
        self.has_value = true;
        self.depth > 0
    }

    /// Handles any other token. Returns false if it ends the rows.
    pub(super) fn other_token(&self) -> bool {
        self.depth > 0 && !self.flat
    }

    /// Whether the last row has ended and no new one has begun.
    pub(super) fn is_between_rows(&self) -> bool {
        self.depth == 0
    }
}
