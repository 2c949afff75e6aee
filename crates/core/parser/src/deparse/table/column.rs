//! Writes columns of tables, and LIKE.

use crate::deparse::context::Context;
use crate::deparse::need::{required, required_node};
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{ColumnDef, Node, TableLikeClause, View};

/// PostgreSQL's `TableLikeOption`, in the order in which they are written.
const LIKE_OPTIONS: [(u32, &str); 9] = [
    (1 << 0, "COMMENTS "),
    (1 << 1, "COMPRESSION "),
    (1 << 2, "CONSTRAINTS "),
    (1 << 3, "DEFAULTS "),
    (1 << 5, "IDENTITY "),
    (1 << 4, "GENERATED "),
    (1 << 6, "INDEXES "),
    (1 << 7, "STATISTICS "),
    (1 << 8, "STORAGE "),
];

impl Deparser<'_> {
    /// An element in the parentheses of CREATE TABLE.
    pub(in crate::deparse) fn table_element(&mut self, node: Option<Node<'_>>) -> DeparseResult {
        match required(node, "an element of a table")?.view() {
            View::ColumnDef(column) => self.column_def(column),
            View::TableLikeClause(like) => self.table_like_clause(like),
            View::Constraint(constraint) => self.constraint(constraint, Context::None),
            other => Err(DeparseError::misplaced(other.tag(), "an element of a table")),
        }
    }

    pub(in crate::deparse) fn column_def(&mut self, column: ColumnDef<'_>) -> DeparseResult {
        if let Some(name) = column.colname() {
            self.ident(name);
            self.char(' ');
        }
        if let Some(type_name) = column.type_name() {
            self.type_name(type_name)?;
            self.char(' ');
        }
        self.opt_word("STORAGE ", column.storage_name());
        // In ALTER COLUMN ... TYPE, a COLLATE after USING would be read as part of the expression.
        let is_converted = column.raw_default().is_some();
        if let Some(collation) = column.coll_clause().filter(|_| is_converted) {
            self.collate_clause(collation)?;
            self.char(' ');
        }
        if is_converted {
            self.str("USING ");
            self.expr(column.raw_default(), Context::AExpr)?;
            self.char(' ');
        }
        self.opt_word("COMPRESSION ", column.compression());
        if !column.fdwoptions().is_empty() {
            self.create_generic_options(column.fdwoptions())?;
            self.char(' ');
        }
        for constraint in column.constraints() {
            self.constraint(required_node(constraint, "a constraint")?, Context::None)?;
            self.char(' ');
        }
        if let Some(collation) = column.coll_clause().filter(|_| !is_converted) {
            self.collate_clause(collation)?;
        }
        self.trim();
        Ok(())
    }

    /// A keyword and a name, or `default`, for which the grammar makes the same tree whether it is a name or the
    /// keyword.
    fn opt_word(&mut self, keyword: &str, word: Option<&str>) {
        if let Some(word) = word {
            self.str(keyword);
            match word {
                "default" => self.str(word),
                name => self.column_name(name),
            }
            self.char(' ');
        }
    }

    pub(in crate::deparse) fn table_like_clause(&mut self, like: TableLikeClause<'_>) -> DeparseResult {
        self.str("LIKE ");
        self.range_var(required(like.relation(), "the table of LIKE")?, Context::None)?;
        self.char(' ');
        // ALL also sets bits that no other words set.
        let all = like.options() > LIKE_OPTIONS.iter().map(|(bit, _)| bit).sum();
        if all {
            self.str("INCLUDING ALL ");
        }
        for (bit, words) in LIKE_OPTIONS {
            if (like.options() & bit == 0) == all {
                self.str(if all { "EXCLUDING " } else { "INCLUDING " });
                self.str(words);
            }
        }
        self.trim();
        Ok(())
    }
}
