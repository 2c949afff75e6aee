//! Writes a statement in one line.

use super::Indent;
use crate::deparse::MARK;

/// Writes parts in one line, with a space between two parts, but no space after `(` or before `)` and `;`.
pub(super) struct Flat {
    text: String,
    /// The offset at which the current part begins.
    part_at: usize,
    /// Whether the current part is still empty and the space before it must be written first.
    is_between: bool,
    /// For each level, whether the parts of its current group may be merged into lines.
    levels: Vec<bool>,
    /// The number of levels where they may. There, each part loses one more space at its end.
    merging: usize,
}

impl Flat {
    pub(super) fn new(text: String) -> Self {
        Self { part_at: text.len(), text, is_between: false, levels: Vec::new(), merging: 0 }
    }

    /// The text of the current part.
    pub(super) fn part(&self) -> &str {
        self.text.get(self.part_at..).unwrap_or_default()
    }

    #[inline]
    pub(super) fn str(&mut self, text: &str) {
        if self.is_between && !text.is_empty() {
            self.separate(text.as_bytes().first().copied());
        }
        self.text.push_str(text);
    }

    #[inline]
    pub(super) fn char(&mut self, character: char) {
        if self.is_between {
            self.separate(u8::try_from(character).ok());
        }
        self.text.push(character);
    }

    /// Puts a mark at the end of a clause: before the spaces at its end, because these may be removed again.
    pub(super) fn mark_end(&mut self) {
        self.text.insert(self.text.trim_end_matches(' ').len(), MARK);
    }

    #[cold]
    fn separate(&mut self, next: Option<u8>) {
        self.is_between = false;
        // A mark has no width, so the character before it counts. At the beginning of a clause, the space is already
        // written.
        let before = self.text.trim_end_matches(MARK);
        let is_separate = before.len() < self.text.len() && before.ends_with(' ');
        if !before.is_empty() && !is_separate && !before.ends_with('(') && !matches!(next, Some(b')' | b';'))
        {
            self.text.push(' ');
        }
        self.part_at = self.text.len();
    }

    pub(super) fn trim(&mut self) {
        if !self.is_between && self.part().ends_with(' ') {
            self.text.pop();
        }
    }

    pub(super) fn part_begins(&mut self, _drop_empty: bool) {
        if !self.is_between {
            for _ in 0..=usize::from(self.merging > 0) {
                if self.text.ends_with(' ') {
                    self.text.pop();
                }
            }
            self.is_between = true;
            self.part_at = self.text.len();
        }
    }

    pub(super) fn group(&mut self, keyword: Option<&'static str>, indent: Indent) {
        // A group removes a space, and each part removes one when parts are joined, so of two spaces none is left.
        self.trim();
        self.part_begins(true);
        if let Some(level) = self.levels.last_mut() {
            self.merging -= usize::from(*level);
            *level = indent == Indent::Merge;
            self.merging += usize::from(*level);
        }
        if let Some(keyword) = keyword {
            self.str(keyword);
            self.part_begins(true);
        }
    }

    pub(super) fn enter(&mut self) {
        self.part_begins(true);
        self.levels.push(false);
    }

    pub(super) fn leave(&mut self) {
        self.part_begins(true);
        self.merging -= usize::from(self.levels.pop().unwrap_or_default());
    }

    pub(super) fn finish(mut self) -> String {
        self.part_begins(true);
        self.text
    }
}
