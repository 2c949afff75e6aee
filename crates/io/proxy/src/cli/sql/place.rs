//! Places in a text: for people a line with a caret, for scripts numbers.

use std::fmt;
use std::ops::Range;

use serde::Serialize;
use unicode_width::UnicodeWidthChar;

/// How many columns of a line are shown, as libpq does.
const COLUMNS_MAX: usize = 60;
/// How many of them are kept for the text right of the caret, where there is that much.
const COLUMNS_RIGHT: usize = 10;

/// A place with its line, shown as psql does: `LINE 1: ...` and a caret below.
pub(super) struct Spot {
    /// The line's number, from 1.
    pub(super) line: usize,
    left: String,
    right: String,
    is_cut_left: bool,
    is_cut_right: bool,
}

impl Spot {
    /// The place of a byte of the text. A place after the last letter is shown right after that letter.
    pub(super) fn of(text: &str, at: usize) -> Self {
        let (before, after) = text.split_at(boundary(text, at));
        let (before, after) =
            if after.trim_ascii().is_empty() { (before.trim_ascii_end(), "") } else { (before, after) };
        let line_start = before.rfind(['\n', '\r']).map_or(0, |end| end + 1);
        let left = before.get(line_start..).unwrap_or_default();
        let right = after.split(['\n', '\r']).next().unwrap_or_default();

        let reserved = fitting(right.chars(), COLUMNS_RIGHT).1;
        let (count, columns) = fitting(left.chars().rev(), COLUMNS_MAX - reserved);
        let skipped = left.chars().rev().nth(count).is_some();
        let mut kept: Vec<char> = left.chars().rev().take(count).map(visible).collect();
        kept.reverse();
        let (count, _) = fitting(right.chars(), COLUMNS_MAX - columns);
        Self {
            line: line_ends(before) + 1,
            left: kept.into_iter().collect(),
            right: right.chars().take(count).map(visible).collect(),
            is_cut_left: skipped,
            is_cut_right: right.chars().nth(count).is_some(),
        }
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dots = |is_cut| if is_cut { "..." } else { "" };
        let start = format!("LINE {}: {}{}", self.line, dots(self.is_cut_left), self.left);
        let indent = start.chars().map(columns).sum::<usize>();
        write!(f, "{start}{}{}\n{:indent$}^", self.right, dots(self.is_cut_right), "")
    }
}

/// The last place at or before `at` where a character begins.
fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// How many characters fit into this many columns, and the columns they take.
fn fitting(characters: impl Iterator<Item = char>, columns_max: usize) -> (usize, usize) {
    let (mut count, mut taken) = (0, 0);
    for character in characters {
        let columns = columns(character);
        // Marks without width would never fill a line.
        if taken + columns > columns_max || count == columns_max {
            break;
        }
        (count, taken) = (count + 1, taken + columns);
    }
    (count, taken)
}

/// How many columns a character takes, once [`visible`].
fn columns(character: char) -> usize {
    visible(character).width().unwrap_or(1)
}

/// The character, or what stands for it on a terminal: a blank for a tab, as in libpq, and no control characters.
pub(super) fn visible(character: char) -> char {
    match character {
        '\t' => ' ',
        character if character.is_control() => char::REPLACEMENT_CHARACTER,
        character => character,
    }
}

/// How many lines end in a text: by `\n`, `\r`, or both together.
fn line_ends(text: &str) -> usize {
    let mut is_behind_return = false;
    let mut count = 0;
    for byte in text.bytes() {
        if byte == b'\r' || byte == b'\n' && !is_behind_return {
            count += 1;
        }
        is_behind_return = byte == b'\r';
    }
    count
}

/// Where a part of the text is: bytes from 0, and the line and the character in it from 1.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Place {
    start: usize,
    end: usize,
    line: usize,
    column: usize,
}

/// Finds the places of parts that follow each other, in one pass over the text.
pub(super) struct Places<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    column: usize,
}

impl<'a> Places<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self { text, at: 0, line: 1, column: 1 }
    }

    /// The place of a part that begins at or after the one before.
    pub(super) fn of_part(&mut self, part: &Range<usize>) -> Place {
        let passed = self.text.get(self.at..part.start).unwrap_or_default();
        self.line += line_ends(passed);
        match passed.rfind(['\n', '\r']) {
            Some(end) => self.column = passed.get(end + 1..).unwrap_or_default().chars().count() + 1,
            None => self.column += passed.chars().count(),
        }
        self.at = part.start;
        Place { start: part.start, end: part.end, line: self.line, column: self.column }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, at: usize) -> String {
        Spot::of(text, at).to_string()
    }

    #[test]
    fn the_caret_stands_below_its_character() {
        assert_eq!(shown("SELECT 1 FORM t", 14), "LINE 1: SELECT 1 FORM t\n                      ^");
        assert_eq!(shown("a\r\nb\rc\n\tdé x", 12), "LINE 4:  dé x\n            ^");
        // Ideographs take two columns each, the accent that follows its letter none.
        assert_eq!(shown("'日本' x", 9), "LINE 1: '日本' x\n               ^");
        assert_eq!(shown("e\u{301} x", 4), "LINE 1: e\u{301} x\n          ^");
    }

    #[test]
    fn the_end_of_the_text_is_behind_its_last_word() {
        for text in ["SELECT", "SELECT \n\n"] {
            assert_eq!(shown(text, text.len()), "LINE 1: SELECT\n              ^", "{text:?}");
        }
        assert_eq!(shown("", 0), "LINE 1: \n        ^");
        assert_eq!(shown("a", 100), "LINE 1: a\n         ^");
    }

    #[test]
    fn long_lines_are_cut_around_the_caret() {
        let (many, none) = ("x".repeat(1000), "");
        for (before, after, left, right) in [
            (&*many, &*many, 50, 10),
            (&many[..20], &many, 20, 40),
            (&many, none, 60, 0),
            (&many, &many[..4], 56, 4),
            (&many[..50], &many[..10], 50, 10),
        ] {
            let dots = |is_cut| if is_cut { "..." } else { "" };
            let start = format!("LINE 1: {}{}", dots(left < before.len()), &many[..left]);
            let rest = format!("{}{}", &many[..right], dots(right < after.len()));
            let expected = format!("{start}{rest}\n{}^", " ".repeat(start.len()));
            assert_eq!(shown(&format!("{before}{after}"), before.len()), expected);
        }
        let marks = "\u{301}".repeat(1_000_000);
        assert!(shown(&format!("{marks}{marks}"), marks.len()).len() < 1000);
    }

    #[test]
    fn nothing_steers_the_terminal() {
        assert_eq!(shown("\u{1b}[2J\0 x", 6), "LINE 1: \u{fffd}[2J\u{fffd} x\n              ^");
    }

    #[test]
    fn parts_are_found_by_line_and_column() {
        let text = "a;\r\n  é; b\n;c";
        let mut places = Places::of(text);
        let found: Vec<_> = [0..1, 6..8, 10..11, 13..14]
            .iter()
            .map(|part| places.of_part(part))
            .map(|place| (place.line, place.column))
            .collect();
        assert_eq!(found, [(1, 1), (2, 3), (2, 6), (3, 2)]);
    }
}
