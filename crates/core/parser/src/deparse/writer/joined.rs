//! Names that are key words, and of which the lexer makes another token if a certain word follows.

use std::ops::Range;

use crate::lexer::Lexer;

/// Whether a name needs quotes before some words.
#[inline]
pub(in crate::deparse) fn may_be_joined(name: &str) -> bool {
    !nexts(name).is_empty()
}

/// The words that make another token of the key word before them.
#[inline]
fn nexts(word: &str) -> &'static [&'static str] {
    match word {
        "nulls" => &["first", "last"],
        "without" => &["time"],
        _ => &[],
    }
}

/// Quotes the names after `from` that need it. Key words are in capital letters there.
pub(super) fn quote(text: &mut String, from: usize) {
    let statement = text.split_off(from);
    let part = |range: Range<usize>| statement.get(range).unwrap_or_default();
    let mut copied = 0;
    let mut last = 0..0;
    let mut lexer = Lexer::new(&statement);
    // Text that is not SQL needs no quotes.
    while let Ok(Some(token)) = lexer.next_token() {
        let this = token.start as usize..token.end as usize;
        let is_told = |next: &&str| next.eq_ignore_ascii_case(part(this.clone()));
        if nexts(part(last.clone())).iter().any(is_told) {
            text.extend([part(copied..last.start), "\"", part(last.clone()), "\""]);
            copied = last.end;
        }
        last = this;
    }
    text.push_str(part(copied..statement.len()));
}
