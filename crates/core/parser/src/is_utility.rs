//! Finds utility statements, which PostgreSQL runs without planning.

use crate::error::ParseError;
use crate::node::{Node, NodeTag, RawStmt};
use crate::raw::ParsedSql;

/// For each statement of a text, whether it is a utility statement: any statement except SELECT (also VALUES and
/// TABLE), INSERT, UPDATE, DELETE and MERGE.
///
/// ```
/// assert_eq!(trunkline_parser::is_utility("SELECT 1; BEGIN; EXPLAIN SELECT 1")?, [false, true, true]);
/// # Ok::<(), trunkline_parser::ParseError>(())
/// ```
///
/// # Errors
/// As for [`parse`](crate::parse).
pub fn is_utility(text: &str) -> Result<Vec<bool>, ParseError> {
    Ok(crate::parse(text)?.is_utility().collect())
}

impl ParsedSql {
    /// As [`is_utility`](crate::is_utility), for the text from which this tree was parsed.
    pub fn is_utility(&self) -> impl Iterator<Item = bool> + '_ {
        let statements = self.root().nodes().filter_map(|node| node.cast::<RawStmt<'_>>());
        statements.map(|statement| !statement.stmt().is_some_and(is_planned))
    }
}

fn is_planned(statement: Node<'_>) -> bool {
    matches!(
        statement.tag(),
        NodeTag::SelectStmt
            | NodeTag::InsertStmt
            | NodeTag::UpdateStmt
            | NodeTag::DeleteStmt
            | NodeTag::MergeStmt
    )
}

#[cfg(test)]
mod tests {
    use super::is_utility;

    #[test]
    fn each_statement_for_itself() {
        let text =
            "VALUES (1); TABLE t; MERGE INTO a USING b ON true WHEN MATCHED THEN DELETE; COPY t TO STDOUT";
        assert_eq!(is_utility(text), Ok(vec![false, false, false, true]));
        for text in ["", ";;", "-- a"] {
            assert_eq!(is_utility(text), Ok(vec![]), "{text}");
        }
        assert!(is_utility("SELECT 'a").is_err());
        let sum = format!("SELECT 1{}; BEGIN", "+1".repeat(100_000));
        assert_eq!(is_utility(&sum), Ok(vec![false, true]));
    }
}
