//! SQL's keywords, from the same list as the parser's.

use super::bucket::bucket;

include!(concat!(env!("OUT_DIR"), "/keywords.rs"));

/// All keywords have fewer bytes than this.
const KEYWORD_BYTES: usize = 24;

/// A keyword.
#[derive(Debug, PartialEq, Eq)]
pub struct Keyword {
    /// The word in lower case.
    pub name: &'static str,
    /// The grammar's name of its token: the word in upper case, some with `_P` after it.
    pub token: &'static str,
    /// The grammar's number of its token.
    pub number: u16,
    /// For which names it may be used.
    pub kind: KeywordKind,
    /// Whether it may be a column's label without AS.
    pub bare_label: bool,
}

/// For which names a keyword may be used. The numbers are the same as pg_query's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeywordKind {
    /// For any name.
    Unreserved = 1,
    /// For a column's or table's name, but not for a function's or type's.
    ColumnName = 2,
    /// For a function's or type's name, but not for a column's or table's.
    TypeFunctionName = 3,
    /// Only for a label after AS.
    Reserved = 4,
}

/// The keyword for `word`, in any case; `None` if it is not a keyword.
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

/// All keywords, in no particular order.
#[must_use]
pub fn keywords() -> &'static [Keyword] {
    &KEYWORDS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_keyword_is_found_in_any_case() {
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
