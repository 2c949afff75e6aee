//! Marks in the written text that show where clauses begin and end, for the code that shortens a text.

use super::{DeparseError, DeparseOptions, DeparseResult, Deparser, TEXT_BYTES_USUAL, Writer, read_back};
use crate::node::{Node, RawStmt};
use crate::raw::ParsedSql;

/// The character that is written where a clause begins and ends. No string of a tree contains it.
pub(crate) const MARK: char = '\0';

/// The beginning or the end of a clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The address of the condition, the query, or the list.
    pub(crate) clause: *const (),
    pub(crate) begins: bool,
}

impl Deparser<'_> {
    /// Writes a clause, between marks if marks are wanted.
    pub(super) fn marked(
        &mut self,
        clause: Option<Node<'_>>,
        write: impl FnOnce(&mut Self) -> DeparseResult,
    ) -> DeparseResult {
        let Some(clause) = clause.filter(|_| self.writer.marks.is_some()) else { return write(self) };
        self.char(MARK);
        self.push_mark(clause, true);
        write(self)?;
        self.writer.mark_end();
        self.push_mark(clause, false);
        Ok(())
    }

    fn push_mark(&mut self, clause: Node<'_>, begins: bool) {
        if let Some(marks) = &mut self.writer.marks {
            marks.push(Mark { clause: clause.address(), begins });
        }
    }
}

impl ParsedSql {
    /// The statements as SQL in one line, with a [`MARK`] at the beginning and end of each clause, and the list of
    /// these marks.
    pub(crate) fn deparse_marked(&self) -> Result<(String, Vec<Mark>), DeparseError> {
        let options = DeparseOptions::default();
        let mut text = String::with_capacity(TEXT_BYTES_USUAL);
        let mut marks = Vec::new();
        for (index, node) in self.root().nodes().enumerate() {
            let statement = node.cast::<RawStmt<'_>>();
            let statement = statement.ok_or_else(|| DeparseError::misplaced(node.tag(), "a statement"))?;
            if index > 0 {
                text.push_str("; ");
            }
            let mut writer = Writer::new(text, &options, &[]);
            writer.marks = Some(marks);
            let mut deparser = Deparser { writer, depth: 0 };
            deparser.raw_statement(statement)?;
            marks = deparser.writer.marks.take().unwrap_or_default();
            text = deparser.writer.finish();
        }
        if self.is_edited() {
            read_back::check_statements(&text.replace(MARK, ""), self)?;
        }
        Ok((text, marks))
    }
}

#[cfg(test)]
mod tests {
    use super::MARK;

    #[test]
    fn marks_have_no_width() {
        for text in [
            "SELECT DISTINCT (SELECT 1), a FROM (SELECT b WHERE EXISTS (SELECT 1)) c WHERE (SELECT true)",
            "WITH a AS (VALUES (1, 2), (3, 4)) INSERT INTO b (c, d) SELECT * FROM a ON CONFLICT (c) WHERE e DO UPDATE SET f = 1 WHERE g",
            "UPDATE a SET b = (SELECT 1) WHERE CURRENT OF c; DELETE FROM a WHERE CASE WHEN b THEN c END",
        ] {
            let tree = crate::parse(text).expect("it parses");
            let (marked, marks) = tree.deparse_marked().expect("it is SQL");
            assert_eq!(marked.replace(MARK, ""), text);
            assert_eq!(marked.matches(MARK).count(), marks.len());
        }
    }
}
