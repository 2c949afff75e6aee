//! Places in a text: a line with a caret for people, numbers for scripts.

use std::fmt;
use std::ops::Range;

use serde::Serialize;
use unicode_width::UnicodeWidthChar;

/// Most columns of a line that are shown, as in libpq.
const COLUMNS_MAX: usize = 60;
/// How many of the columns are reserved for the text right of the caret, if there is that much text.
const COLUMNS_RIGHT: usize = 10;

/// The line of a place, shown as psql shows it: `LINE 1: ...` and a caret below.
pub(super) struct Excerpt {
    /// The line's number, from 1.
    pub(super) line: usize,
    left: String,
    right: String,
    is_cut_left: bool,
    is_cut_right: bool,
}

impl Excerpt {
    /// The excerpt for the byte `at`. If only blanks follow, the caret stands right after the last visible character.
    pub(super) fn at(text: &str, at: usize) -> Self {
        let (before, after) = text.split_at(boundary(text, at));
        let (before, after) =
            if after.trim_ascii().is_empty() { (before.trim_ascii_end(), "") } else { (before, after) };
        let line_start = before.rfind(['\n', '\r']).map_or(0, |end| end + 1);
        let left = before.get(line_start..).unwrap_or_default();
        let right = after.split(['\n', '\r']).next().unwrap_or_default();

        let reserved = fit_columns(right.chars(), COLUMNS_RIGHT).1;
        let (count, columns) = fit_columns(left.chars().rev(), COLUMNS_MAX - reserved);
        let skipped = left.chars().rev().nth(count).is_some();
        let mut kept: Vec<char> = left.chars().rev().take(count).map(visible).collect();
        kept.reverse();
        let (count, _) = fit_columns(right.chars(), COLUMNS_MAX - columns);
        Self {
            line: line_ends(before) + 1,
            left: kept.into_iter().collect(),
            right: right.chars().take(count).map(visible).collect(),
            is_cut_left: skipped,
            is_cut_right: right.chars().nth(count).is_some(),
        }
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dots = |is_cut| if is_cut { "..." } else { "" };
        let start = format!("LINE {}: {}{}", self.line, dots(self.is_cut_left), self.left);
        let indent = start.chars().map(columns).sum::<usize>();
        write!(f, "{start}{}{}\n{:indent$}^", self.right, dots(self.is_cut_right), "")
    }
}

/// The last position at or before `at` where a character begins.
fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// How many of the characters fit into `columns_max` columns, and how many columns they take.
fn fit_columns(characters: impl Iterator<Item = char>, columns_max: usize) -> (usize, usize) {
    let (mut count, mut taken) = (0, 0);
    for character in characters {
        let columns = columns(character);
        // The second condition ends a line of combining marks, which have no width.
        if taken + columns > columns_max || count == columns_max {
            break;
        }
        (count, taken) = (count + 1, taken + columns);
    }
    (count, taken)
}

/// How many columns a character takes after [`visible`].
fn columns(character: char) -> usize {
    visible(character).width().unwrap_or(1)
}

/// The character for a terminal: a blank for a tab, as in libpq, and a replacement for a control character.
pub(super) fn visible(character: char) -> char {
    match character {
        '\t' => ' ',
        character if character.is_control() => char::REPLACEMENT_CHARACTER,
        character => character,
    }
}

/// How many lines end in the text. A line ends with `\n`, `\r` or `\r\n`.
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

/// The place of a part of the text: `start` and `end` in bytes from 0, line and column (in characters) from 1.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Place {
    start: usize,
    end: usize,
    line: usize,
    column: usize,
}

/// Finds the places of parts of a text in one pass. The parts must come in their order.
pub(super) struct PlaceFinder<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    column: usize,
}

impl<'a> PlaceFinder<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, line: 1, column: 1 }
    }

    /// The place of `part`, which must not begin before the previous part.
    pub(super) fn place_of(&mut self, part: &Range<usize>) -> Place {
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
        Excerpt::at(text, at).to_string()
    }

    #[test]
    fn the_caret_stands_below_its_character() {
        assert_eq!(shown("SELECT 1 FORM t", 14), "LINE 1: SELECT 1 FORM t\n                      ^");
        assert_eq!(shown("a\r\nb\rc\n\tdé x", 12), "LINE 4:  dé x\n            ^");
        // An ideograph takes two columns, and a combining accent takes none.
        assert_eq!(shown("'日本' x", 9), "LINE 1: '日本' x\n               ^");
        assert_eq!(shown("e\u{301} x", 4), "LINE 1: e\u{301} x\n          ^");
    }

    #[test]
    fn the_end_of_the_text_is_shown_after_its_last_word() {
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
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(shown("\u{1b}[2J\0 x", 6), "LINE 1: \u{fffd}[2J\u{fffd} x\n              ^");
    }

    #[test]
    fn parts_have_their_line_and_column() {
        let text = "a;\r\n  é; b\n;c";
        let mut places = PlaceFinder::new(text);
        let found: Vec<_> = [0..1, 6..8, 10..11, 13..14]
            .iter()
            .map(|part| places.place_of(part))
            .map(|place| (place.line, place.column))
            .collect();
        assert_eq!(found, [(1, 1), (2, 3), (2, 6), (3, 2)]);
    }
}
