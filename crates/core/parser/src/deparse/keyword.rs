//! Keywords that are no plain identifiers.

pub(super) use crate::lexer::KeywordKind as Use;
use crate::lexer::keyword;

/// What a keyword in lower case may name; None for what is no keyword, or one that may name anything.
#[inline]
pub(super) fn restricted(name: &str) -> Option<Use> {
    keyword(name.as_bytes()).map(|keyword| keyword.kind).filter(|kind| *kind != Use::Unreserved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_that_name_anything_are_none() {
        assert_eq!(restricted("select"), Some(Use::Reserved));
        assert_eq!(restricted("between"), Some(Use::ColumnName));
        assert_eq!(restricted("left"), Some(Use::TypeFunctionName));
        for name in ["", "s", "abort", "selec", "selects", "customers"] {
            assert_eq!(restricted(name), None, "{name}");
        }
    }
}
