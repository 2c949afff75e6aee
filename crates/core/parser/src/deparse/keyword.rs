//! Keywords that are not plain identifiers.

pub(super) use crate::lexer::KeywordKind as Use;
use crate::lexer::keyword;

/// What a keyword may name; None for a word that is not a keyword, or for a keyword that may name anything. A name that
/// is not in lower case is not a keyword: the lexer writes keywords in lower case.
#[inline]
pub(super) fn restricted(name: &str) -> Option<Use> {
    let keyword = keyword(name.as_bytes()).filter(|keyword| keyword.name == name)?;
    (keyword.kind != Use::Unreserved).then_some(keyword.kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_that_name_anything_are_none() {
        assert_eq!(restricted("select"), Some(Use::Reserved));
        assert_eq!(restricted("between"), Some(Use::ColumnName));
        assert_eq!(restricted("left"), Some(Use::TypeFunctionName));
        for name in ["", "s", "abort", "selec", "selects", "customers", "Select", "ANY"] {
            assert_eq!(restricted(name), None, "{name}");
        }
    }
}
