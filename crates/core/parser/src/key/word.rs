//! The words with a special meaning for a key.

/// The special meaning of a keyword.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Special {
    In,
    As,
    Into,
    Insert,
    /// SELECT, FROM or TABLE, which end the part of INSERT before its VALUES.
    Source,
    /// UNION, EXCEPT, INTERSECT or their ALL and DISTINCT.
    SetOperation,
    /// `float`, `current_time` and others whose precision is not a constant in the tree.
    Float,
    Position,
    Values,
    /// A name with which literals decide which setting of the session changes. (An UPDATE of the view `pg_settings`
    /// calls `set_config`.)
    Settings,
}

/// The special meaning of a word in lower case, if it has one.
#[inline]
pub(super) fn special(word: &[u8]) -> Option<Special> {
    Some(match word {
        b"in" => Special::In,
        b"as" => Special::As,
        b"into" => Special::Into,
        b"insert" => Special::Insert,
        b"select" | b"from" | b"table" => Special::Source,
        b"union" | b"except" | b"intersect" | b"all" | b"distinct" => Special::SetOperation,
        b"float" | b"current_time" | b"current_timestamp" | b"localtime" | b"localtimestamp" => {
            Special::Float
        }
        b"position" => Special::Position,
        b"values" => Special::Values,
        b"set_config" | b"pg_settings" => Special::Settings,
        _ => return None,
    })
}

/// The words that [`special`] knows.
const WORDS: [&[u8]; 21] = [
    b"in",
    b"as",
    b"into",
    b"insert",
    b"select",
    b"from",
    b"table",
    b"union",
    b"except",
    b"intersect",
    b"all",
    b"distinct",
    b"float",
    b"current_time",
    b"current_timestamp",
    b"localtime",
    b"localtimestamp",
    b"position",
    b"values",
    b"set_config",
    b"pg_settings",
];

const LENGTHS: usize = 18;

/// For each length, the first letters of the words. Most names differ from all words in length or first letter.
static FIRST_LETTERS: [u32; LENGTHS] = first_letters();

const fn first_letters() -> [u32; LENGTHS] {
    let mut table = [0; LENGTHS];
    let mut index = 0;
    while index < WORDS.len() {
        let word = WORDS[index];
        table[word.len()] |= letter_bit(word[0]);
        index += 1;
    }
    table
}

const fn letter_bit(byte: u8) -> u32 {
    1 << (byte & 0x1f)
}

/// Whether a word with this length and first letter may be one of the words.
#[inline]
pub(super) fn may_be_special(length: usize, first: u8) -> bool {
    FIRST_LETTERS.get(length).is_some_and(|letters| letters & letter_bit(first) != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_accepts_all_words() {
        for word in WORDS {
            assert!(special(word).is_some());
            assert!(may_be_special(word.len(), word[0]));
            assert!(may_be_special(word.len(), word[0].to_ascii_uppercase()));
        }
    }
}
