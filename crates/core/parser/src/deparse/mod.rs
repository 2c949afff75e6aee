//! Writes SQL from a tree.
//!
//! The text is the same as libpg_query 18's, in one line or in several. Methods of [`Deparser`] have the names of the
//! grammar's rules that they write (`a_expr`, `opt_drop_behavior`), or the names of nodes. The folders are
//! `expression/`, `query/`, `table/` and `utility/`. If a method ends its text with a space, its caller removes the
//! space with [`Writer::trim`] when necessary.
// `from_clause` and `into_clause` are names of grammar rules, not conversions.
#![allow(clippy::wrong_self_convention)]

mod context;
mod error;
mod expression;
mod keyword;
mod mark;
mod names;
mod need;
mod options;
mod query;
mod read_back;
mod statement;
mod table;
mod utility;
mod writer;

pub use error::DeparseError;
pub(crate) use mark::{MARK, Mark};
pub use options::{Comment, DeparseOptions};

use std::ops::{Deref, DerefMut};

use crate::deep::deeper;
use crate::node::{Node, RawStmt};
use crate::raw::ParsedSql;
use writer::Writer;

/// The highest depth of a tree. A deeper tree is an error, because each level needs about a kilobyte of stack.
/// PostgreSQL itself refuses much less deep trees when it analyses them.
const DEPTH_MAX: usize = 250_000;

/// The first capacity of a text. Most statements are shorter, and a longer one doubles it only a few times.
const TEXT_BYTES_USUAL: usize = 256;

type DeparseResult = Result<(), DeparseError>;

/// Writes one statement.
struct Deparser<'o> {
    writer: Writer<'o>,
    depth: usize,
}

impl<'o> Deref for Deparser<'o> {
    type Target = Writer<'o>;

    fn deref(&self) -> &Writer<'o> {
        &self.writer
    }
}

impl<'o> DerefMut for Deparser<'o> {
    fn deref_mut(&mut self) -> &mut Writer<'o> {
        &mut self.writer
    }
}

impl Deparser<'_> {
    /// Does `work` one level deeper. All recursion over the tree goes through this method.
    fn deeper(&mut self, work: impl FnOnce(&mut Self) -> DeparseResult) -> DeparseResult {
        if self.depth == DEPTH_MAX {
            return Err(DeparseError::new(format!("it is more than {DEPTH_MAX} levels deep")));
        }
        self.depth += 1;
        let done = deeper(|| work(self));
        self.depth -= 1;
        done
    }

    /// Elements with `, ` between them.
    fn separated<T>(
        &mut self,
        elements: impl IntoIterator<Item = T>,
        mut each: impl FnMut(&mut Self, T) -> DeparseResult,
    ) -> DeparseResult {
        for (index, element) in elements.into_iter().enumerate() {
            if index > 0 {
                self.str(", ");
            }
            each(self, element)?;
        }
        Ok(())
    }

    fn raw_statement(&mut self, statement: RawStmt<'_>) -> DeparseResult {
        let node = statement.stmt().ok_or_else(|| DeparseError::missing("a statement"))?;
        self.comments_apart(statement.stmt_location());
        self.stmt(Some(node))?;
        self.comments_apart(writer::END);
        Ok(())
    }
}

impl ParsedSql {
    /// Writes the statements as SQL in one line.
    ///
    /// # Errors
    /// [`DeparseError`] for a tree that is more than 250,000 levels deep, or that was edited so that no SQL text has
    /// this tree. To find that out, the text of an edited tree is parsed again. This is not necessary for a tree that
    /// was only parsed.
    ///
    /// ```
    /// let tree = trunkline_parser::parse("select  A, 'b' from c where d in (1, 2)")?;
    /// assert_eq!(tree.deparse()?, "SELECT a, 'b' FROM c WHERE d IN (1, 2)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn deparse(&self) -> Result<String, DeparseError> {
        self.deparse_with(&DeparseOptions::default())
    }

    /// Writes the statements as SQL with the layout in `options`.
    ///
    /// # Errors
    /// As for [`deparse`](Self::deparse).
    pub fn deparse_with(&self, options: &DeparseOptions) -> Result<String, DeparseError> {
        let text = self.write(options)?;
        if self.is_edited() {
            read_back::check_statements(&text, self)?;
        }
        Ok(text)
    }

    fn write(&self, options: &DeparseOptions) -> Result<String, DeparseError> {
        let mut comments = options.comments.clone();
        comments.iter().try_for_each(|comment| read_back::check_comment(&comment.text))?;
        comments.sort_by_key(|comment| comment.location);
        let mut left = comments.as_slice();
        let mut text = String::with_capacity(TEXT_BYTES_USUAL);
        let statements = self.root();
        for (index, node) in statements.nodes().enumerate() {
            let statement = node
                .cast::<RawStmt<'_>>()
                .ok_or_else(|| DeparseError::misplaced(node.tag(), "a statement"))?;
            let mut mine = left;
            if index + 1 < statements.len() {
                let end = statement.stmt_location().saturating_add(statement.stmt_len());
                let end = usize::try_from(end).unwrap_or_default();
                (mine, left) = left.split_at(left.partition_point(|comment| comment.location < end));
            }
            if index > 0 {
                text.push_str("; ");
            }
            let mut deparser = Deparser { writer: Writer::new(text, options, mine), depth: 0 };
            deparser.raw_statement(statement)?;
            text = deparser.writer.finish();
            let is_followed = index + 1 < statements.len();
            if is_followed
                && mine.last().is_some_and(|comment| comment.is_line() && text.ends_with(&comment.text))
            {
                // Without a newline, the next statement would be part of the comment.
                text.push('\n');
            }
        }
        Ok(text)
    }
}

impl Node<'_> {
    /// Writes this node, a statement or an expression, as SQL in one line. The text is always parsed again, because
    /// the tree of the node may have been edited.
    ///
    /// # Errors
    /// [`DeparseError`] for other nodes, and as for [`ParsedSql::deparse`].
    pub fn deparse(self) -> Result<String, DeparseError> {
        let options = DeparseOptions::default();
        let mut deparser = Deparser { writer: Writer::new(String::new(), &options, &[]), depth: 0 };
        deparser.enter();
        let is_statement = self.tag().c_name().ends_with("Stmt");
        match self.cast::<RawStmt<'_>>() {
            Some(statement) => deparser.raw_statement(statement)?,
            None if is_statement => deparser.stmt(Some(self))?,
            None => deparser.expr(Some(self), context::Context::None)?,
        }
        deparser.leave();
        let text = deparser.writer.finish();
        match is_statement {
            true => read_back::check_statement(&text, self)?,
            false => read_back::check_expression(&text, self)?,
        }
        Ok(text)
    }
}
