//! SQL's key words, from the list the parser itself is made of.

use super::bucket::bucket;

include!(concat!(env!("OUT_DIR"), "/keywords.rs"));

/// The longest key word has fewer bytes than this.
const KEYWORD_BYTES: usize = 24;

/// A key word.
#[derive(Debug, PartialEq, Eq)]
pub struct Keyword {
    /// In lower case.
    pub name: &'static str,
    /// The grammar's name of its token: the word in upper case, some with `_P` after it.
    pub token: &'static str,
    /// The grammar's number of its token.
    pub number: u16,
    /// Where it may be used as a name.
    pub kind: KeywordKind,
    /// Whether it may be a column's label without AS.
    pub bare_label: bool,
}

/// Where a key word may be used as a name. The numbers are pg_query's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeywordKind {
    /// Everywhere.
    Unreserved = 1,
    /// As a column's or table's name, not a function's or type's.
    ColumnName = 2,
    /// As a function's or type's name, not a column's or table's.
    TypeFunctionName = 3,
    /// Only as a label.
    Reserved = 4,
}

/// The key word that `word` is, in any case, if it is one.
///
/// ```
/// use trunkline_parser::lexer::{KeywordKind, keyword};
///
/// assert_eq!(keyword(b"Select").map(|word| word.kind), Some(KeywordKind::Reserved));
/// assert_eq!(keyword(b"selected"), None);
/// ```
#[inline]
#[must_use]
pub fn keyword(word: &[u8]) -> Option<&'static Keyword> {
    if word.len() >= KEYWORD_BYTES {
        return None;
    }
    let bucket = bucket(word);
    let start = usize::from(*STARTS.get(bucket)?);
    let end = usize::from(*STARTS.get(bucket + 1)?);
    KEYWORDS.get(start..end)?.iter().find(|keyword| keyword.name.as_bytes().eq_ignore_ascii_case(word))
}

/// All key words, in no order.
#[must_use]
pub fn keywords() -> &'static [Keyword] {
    &KEYWORDS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_word_is_found_in_any_case() {
        assert!(keywords().len() > 400);
        for known in keywords() {
            assert!(known.name.len() < KEYWORD_BYTES);
            assert_eq!(keyword(known.name.as_bytes()), Some(known));
            assert_eq!(keyword(known.name.to_uppercase().as_bytes()), Some(known));
            for other in [format!("{}x", known.name), format!("_{}", known.name), known.name[1..].to_owned()]
            {
                let listed = keywords().iter().find(|keyword| keyword.name == other);
                assert_eq!(keyword(other.as_bytes()), listed, "{other}");
            }
        }
    }

    #[test]
    fn buckets_are_short() {
        let longest = STARTS.windows(2).map(|pair| pair[1] - pair[0]).max();
        assert!(longest <= Some(6), "{longest:?}");
    }
}
