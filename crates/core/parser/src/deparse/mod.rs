//! SQL from a tree.
//!
//! The text is the one libpg_query 18 writes, in one line or laid out. Methods of [`Deparser`] are named after the rules of
//! PostgreSQL's grammar that they write (`a_expr`, `opt_drop_behavior`), or after the node. Folders group them by
//! what they write: `expression/`, `query/`, `table/`, `utility/`. A method that ends its text with a space leaves it to
//! its caller to [`Writer::trim`] it.
// `from_clause`, `into_clause`: names of the grammar, not conversions.
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

/// How deep a tree may be: more is an error, because each level takes about a kilobyte of stack. PostgreSQL itself gives
/// up far sooner, when it analyses such a tree.
const DEPTH_MAX: usize = 250_000;

/// Room for a text to begin with: most statements are shorter, and those that are not double it a few times only.
const TEXT_BYTES_USUAL: usize = 256;

type Done = Result<(), DeparseError>;

/// A statement on its way to text.
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
    /// One level down: what recurses over the tree does so through here.
    fn deeper(&mut self, work: impl FnOnce(&mut Self) -> Done) -> Done {
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
        mut each: impl FnMut(&mut Self, T) -> Done,
    ) -> Done {
        for (index, element) in elements.into_iter().enumerate() {
            if index > 0 {
                self.str(", ");
            }
            each(self, element)?;
        }
        Ok(())
    }

    fn raw_statement(&mut self, statement: RawStmt<'_>) -> Done {
        let node = statement.stmt().ok_or_else(|| DeparseError::missing("a statement"))?;
        self.comments_apart(statement.stmt_location());
        self.stmt(Some(node))?;
        self.comments_apart(writer::END);
        Ok(())
    }
}

impl ParsedSql {
    /// The statements as SQL, in one line.
    ///
    /// # Errors
    /// [`DeparseError`]: for a tree that was edited into one that PostgreSQL's grammar makes of no text, or is more
    /// than 250,000 levels deep. The text of an edited tree is read back to know that; the text of a tree that was only
    /// parsed need not be.
    ///
    /// ```
    /// let tree = trunkline_parser::parse("select  A, 'b' from c where d in (1, 2)")?;
    /// assert_eq!(tree.deparse()?, "SELECT a, 'b' FROM c WHERE d IN (1, 2)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn deparse(&self) -> Result<String, DeparseError> {
        self.deparse_with(&DeparseOptions::default())
    }

    /// The statements as SQL, laid out as `options` say.
    ///
    /// # Errors
    /// As of [`deparse`](Self::deparse).
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
                // Else the comment would go on over the next statement.
                text.push('\n');
            }
        }
        Ok(text)
    }
}

impl Node<'_> {
    /// This node as SQL, in one line: a statement, or an expression. It is read back: a node need not be of a tree that the
    /// grammar made.
    ///
    /// # Errors
    /// [`DeparseError`]: for other nodes, and as of [`ParsedSql::deparse`].
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
