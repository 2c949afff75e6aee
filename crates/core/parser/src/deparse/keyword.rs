//! Keywords that are no plain identifiers.

/// What a keyword may still name, without quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// A column or a table, not a function or a type.
    ColumnName,
    /// A function or a type, not a column or a table.
    TypeFunctionName,
    /// Only a label after AS, or a field.
    Reserved,
}

include!(concat!(env!("OUT_DIR"), "/quoting.rs"));

/// Must be as in `build/quoting.rs`.
#[inline]
fn bucket(bytes: &[u8]) -> usize {
    let at = |place: usize| bytes.get(place).copied().map_or(0, usize::from);
    let sum = at(0)
        + 5 * at(1)
        + 31 * at(bytes.len() / 2)
        + 67 * at(bytes.len().wrapping_sub(1))
        + 11 * bytes.len();
    sum % (STARTS.len() - 1)
}

/// What a keyword in lower case may name; None for what is no keyword, or one that may name anything.
#[inline]
pub(super) fn restricted(name: &str) -> Option<Use> {
    let bucket = bucket(name.as_bytes());
    let (start, end) = (STARTS.get(bucket)?, STARTS.get(bucket + 1)?);
    let found = KEYWORDS.get(usize::from(*start)..usize::from(*end))?;
    found.iter().find(|(keyword, _)| *keyword == name).map(|(_, use_)| *use_)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_keyword_is_found() {
        for (keyword, use_) in &KEYWORDS {
            assert_eq!(restricted(keyword), Some(*use_), "{keyword}");
        }
        assert_eq!(restricted("select"), Some(Use::Reserved));
        assert_eq!(restricted("between"), Some(Use::ColumnName));
        assert_eq!(restricted("left"), Some(Use::TypeFunctionName));
        for name in ["", "s", "abort", "selec", "selects", "customers"] {
            assert_eq!(restricted(name), None, "{name}");
        }
    }
}
