//! Keywords that cannot be used as any name.

pub(super) use crate::lexer::KeywordKind as Use;
use crate::lexer::keyword;

/// For what a keyword may be used as a name. `None` for a word that is not a keyword, or for a keyword that may be any
/// name. A name that is not in lower case is not a keyword, because the lexer writes keywords in lower case.
#[inline]
pub(super) fn restricted(name: &str) -> Option<Use> {
    let keyword = keyword(name.as_bytes()).filter(|keyword| keyword.name == name)?;
    (keyword.kind != Use::Unreserved).then_some(keyword.kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_that_may_be_any_name_are_none() {
        assert_eq!(restricted("select"), Some(Use::Reserved));
        assert_eq!(restricted("between"), Some(Use::ColumnName));
        assert_eq!(restricted("left"), Some(Use::TypeFunctionName));
        for name in ["", "s", "abort", "selec", "selects", "customers", "Select", "ANY"] {
            assert_eq!(restricted(name), None, "{name}");
        }
    }
}
