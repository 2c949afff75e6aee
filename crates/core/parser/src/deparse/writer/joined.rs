//! Quotes names that the lexer would join with the next word into one token, because they are keywords.

use std::ops::Range;

use crate::lexer::Lexer;

/// Whether a name needs quotes if certain words follow it.
#[inline]
pub(in crate::deparse) fn may_join_next_word(name: &str) -> bool {
    !words_that_join(name).is_empty()
}

/// The words that the lexer joins with this keyword before them.
#[inline]
fn words_that_join(word: &str) -> &'static [&'static str] {
    match word {
        "nulls" => &["first", "last"],
        "without" => &["time"],
        _ => &[],
    }
}

/// Quotes the names after the offset `from` that need it. Keywords are written in capital letters, so names differ.
pub(super) fn quote(text: &mut String, from: usize) {
    let statement = text.split_off(from);
    let part = |range: Range<usize>| statement.get(range).unwrap_or_default();
    let mut copied = 0;
    let mut last = 0..0;
    let mut lexer = Lexer::new(&statement);
    // The loop ends at text that is not SQL, which needs no quotes.
    while let Ok(Some(token)) = lexer.next_token() {
        let this = token.start as usize..token.end as usize;
        let is_told = |next: &&str| next.eq_ignore_ascii_case(part(this.clone()));
        if words_that_join(part(last.clone())).iter().any(is_told) {
            text.extend([part(copied..last.start), "\"", part(last.clone()), "\""]);
            copied = last.end;
        }
        last = this;
    }
    text.push_str(part(copied..statement.len()));
}
