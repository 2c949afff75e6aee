//! Columns of tables, and LIKE.

use crate::deparse::context::Context;
use crate::deparse::need::{given, need};
use crate::deparse::{DeparseError, Deparser, Done};
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
    /// What stands in the parentheses of CREATE TABLE.
    pub(in crate::deparse) fn table_element(&mut self, node: Option<Node<'_>>) -> Done {
        match given(node, "an element of a table")?.view() {
            View::ColumnDef(column) => self.column_def(column),
            View::TableLikeClause(like) => self.table_like_clause(like),
            View::Constraint(constraint) => self.constraint(constraint, Context::None),
            other => Err(DeparseError::misplaced(other.tag(), "an element of a table")),
        }
    }

    pub(in crate::deparse) fn column_def(&mut self, column: ColumnDef<'_>) -> Done {
        if let Some(name) = column.colname() {
            self.ident(name);
            self.char(' ');
        }
        if let Some(type_name) = column.type_name() {
            self.type_name(type_name)?;
            self.char(' ');
        }
        self.opt_word("STORAGE ", column.storage_name());
        // For ALTER COLUMN ... TYPE: a COLLATE after USING would be part of the expression.
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
            self.constraint(need(constraint, "a constraint")?, Context::None)?;
            self.char(' ');
        }
        if let Some(collation) = column.coll_clause().filter(|_| !is_converted) {
            self.collate_clause(collation)?;
        }
        self.trim();
        Ok(())
    }

    /// A keyword and a name, or `default`, which is the keyword, too: the grammar has one tree for both.
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

    pub(in crate::deparse) fn table_like_clause(&mut self, like: TableLikeClause<'_>) -> Done {
        self.str("LIKE ");
        self.range_var(given(like.relation(), "the table of LIKE")?, Context::None)?;
        self.char(' ');
        // ALL has bits of its own, which no other words set.
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
