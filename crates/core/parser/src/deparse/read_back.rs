//! Parses a written text again and checks that the result is the same tree. This is done for trees that may have been
//! edited.
//!
//! An edited tree may contain something that is not possible in SQL (a WHERE of a UNION, an operator `--`), or its
//! text may also be the text of another tree. Checks of each field of each node could miss a case, but the grammar
//! misses none.

use super::DeparseError;
use crate::lexer::{Lexer, TokenKind};
use crate::node::{Node, RawStmt};
use crate::raw::ParsedSql;

/// The places at which an expression is tried: in parentheses, in the list of SELECT (for `*`), in VALUES (for
/// `DEFAULT`).
const PLACES: [(&str, &str); 3] = [("SELECT (", "\n)"), ("SELECT ", ""), ("INSERT INTO t VALUES (", "\n)")];

/// Checks that a text parses to this tree.
pub(super) fn check_statements(text: &str, tree: &ParsedSql) -> Result<(), DeparseError> {
    let again = crate::parse(text).map_err(|error| DeparseError::not_sql(&error))?;
    tree.root()
        .difference(again.root())
        .map_or(Ok(()), |difference| Err(DeparseError::different_tree(difference)))
}

/// Checks that a text parses to this statement.
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
    statement.difference(read).map_or(Ok(()), |difference| Err(DeparseError::different_tree(difference)))
}

/// Checks that a text parses to this expression.
pub(super) fn check_expression(text: &str, expression: Node<'_>) -> Result<(), DeparseError> {
    let mut first_error = None;
    for (before, after) in PLACES {
        let error = match crate::parse(&format!("{before}{text}{after}")) {
            Err(error) => DeparseError::not_sql(&error),
            Ok(tree) => match only_expression(&tree).map(|read| expression.difference(read)) {
                Some(None) => return Ok(()),
                Some(Some(difference)) => DeparseError::different_tree(difference),
                None => DeparseError::new("the text that would be written is not one expression"),
            },
        };
        first_error.get_or_insert(error);
    }
    Err(first_error
        .unwrap_or_else(|| DeparseError::new("this expression is not possible at any place in SQL")))
}

/// The only expression of a SELECT or VALUES that has nothing else.
fn only_expression(tree: &ParsedSql) -> Option<Node<'_>> {
    use crate::node::{InsertStmt, SelectStmt};
    let statement = crate::edit::only_statement(tree)?;
    let Some(insert) = statement.cast::<InsertStmt<'_>>() else { return crate::edit::only_expression(tree) };
    let mut rows = insert.select_stmt()?.cast::<SelectStmt<'_>>()?.values_lists().nodes();
    let mut values = rows.next()?.as_list()?.nodes();
    values.next().filter(|_| values.next().is_none() && rows.next().is_none())
}

/// Checks that the text of a comment is one comment and nothing else.
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
        false => Err(DeparseError::new("a text that was given as a comment is not exactly one comment")),
    }
}
