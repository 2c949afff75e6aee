//! The text of a tree that the grammar may not have made is read back, and must give that tree.
//!
//! An edited tree may say something that no SQL says (a condition of a UNION, an operator `--`), or have the same text
//! as another tree. Rules for each field of each node would miss some; the grammar misses none.

use super::DeparseError;
use crate::lexer::{Lexer, TokenKind};
use crate::node::{Node, RawStmt};
use crate::raw::ParsedSql;

/// The places that are tried when an expression is read back: anywhere, in a list of targets (`*`), in VALUES
/// (`DEFAULT`).
const PLACES: [(&str, &str); 3] = [("SELECT (", "\n)"), ("SELECT ", ""), ("INSERT INTO t VALUES (", "\n)")];

/// That SQL is read as this tree.
pub(super) fn check_statements(text: &str, tree: &ParsedSql) -> Result<(), DeparseError> {
    let again = crate::parse(text).map_err(|error| DeparseError::not_sql(&error))?;
    tree.root()
        .difference(again.root())
        .map_or(Ok(()), |difference| Err(DeparseError::read_otherwise(difference)))
}

/// That SQL is read as this statement.
pub(super) fn check_statement(text: &str, statement: Node<'_>) -> Result<(), DeparseError> {
    let again = crate::parse(text).map_err(|error| DeparseError::not_sql(&error))?;
    let mut statements = again.root().nodes();
    let read = statements.next().and_then(|node| match statement.is::<RawStmt<'_>>() {
        true => Some(node),
        false => node.cast::<RawStmt<'_>>()?.stmt(),
    });
    let Some(read) = read.filter(|_| statements.next().is_none()) else {
        return Err(DeparseError::new("the text that would be written is not one statement"));
    };
    statement.difference(read).map_or(Ok(()), |difference| Err(DeparseError::read_otherwise(difference)))
}

/// That SQL is read as this expression.
pub(super) fn check_expression(text: &str, expression: Node<'_>) -> Result<(), DeparseError> {
    let mut first_error = None;
    for (before, after) in PLACES {
        let error = match crate::parse(&format!("{before}{text}{after}")) {
            Err(error) => DeparseError::not_sql(&error),
            Ok(tree) => match only_expression(&tree).map(|read| expression.difference(read)) {
                Some(None) => return Ok(()),
                Some(Some(difference)) => DeparseError::read_otherwise(difference),
                None => DeparseError::new("the text that would be written is not one expression"),
            },
        };
        first_error.get_or_insert(error);
    }
    Err(first_error.unwrap_or_else(|| DeparseError::new("it has no place")))
}

/// The one value of a SELECT, or of VALUES, that consists of nothing else.
fn only_expression(tree: &ParsedSql) -> Option<Node<'_>> {
    use crate::node::{InsertStmt, SelectStmt};
    let statement = crate::edit::only(tree)?;
    let Some(insert) = statement.cast::<InsertStmt<'_>>() else { return crate::edit::only_expression(tree) };
    let mut rows = insert.select_stmt()?.cast::<SelectStmt<'_>>()?.values_lists().nodes();
    let mut values = rows.next()?.as_list()?.nodes();
    values.next().filter(|_| values.next().is_none() && rows.next().is_none())
}

/// That a text to be put back as a comment is one, and nothing else.
pub(super) fn check_comment(text: &str) -> Result<(), DeparseError> {
    let mut lexer = Lexer::new(text).comments(true);
    let is_whole = match lexer.next_token() {
        Ok(Some(token)) => {
            matches!(token.kind, TokenKind::LineComment | TokenKind::BlockComment)
                && (token.start, token.end as usize) == (0, text.len())
        }
        _ => false,
    };
    match is_whole {
        true => Ok(()),
        false => Err(DeparseError::new("a comment to be put back is not one comment")),
    }
}
