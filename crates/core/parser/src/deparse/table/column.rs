//! Columns of tables, and LIKE.

use crate::deparse::context::Context;
use crate::deparse::need::{given, need};
use crate::deparse::{DeparseError, Deparser, Done};
use crate::node::{ColumnDef, Node, TableLikeClause, View};

/// PostgreSQL's `CREATE_TABLE_LIKE_ALL`.
const LIKE_ALL: u32 = i32::MAX.cast_unsigned();

/// PostgreSQL's `TableLikeOption`, in the order in which they are written.
const LIKE_OPTIONS: [(u32, &str); 9] = [
    (1 << 0, "INCLUDING COMMENTS "),
    (1 << 1, "INCLUDING COMPRESSION "),
    (1 << 2, "INCLUDING CONSTRAINTS "),
    (1 << 3, "INCLUDING DEFAULTS "),
    (1 << 5, "INCLUDING IDENTITY "),
    (1 << 4, "INCLUDING GENERATED "),
    (1 << 6, "INCLUDING INDEXES "),
    (1 << 7, "INCLUDING STATISTICS "),
    (1 << 8, "INCLUDING STORAGE "),
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
        if column.raw_default().is_some() {
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
        if let Some(collation) = column.coll_clause() {
            self.collate_clause(collation)?;
        }
        self.trim();
        Ok(())
    }

    /// A keyword with a word that is none of an identifier's: `default` may be meant as the keyword.
    fn opt_word(&mut self, keyword: &str, word: Option<&str>) {
        if let Some(word) = word {
            self.str(keyword);
            self.str(word);
            self.char(' ');
        }
    }

    pub(in crate::deparse) fn table_like_clause(&mut self, like: TableLikeClause<'_>) -> Done {
        self.str("LIKE ");
        self.range_var(given(like.relation(), "the table of LIKE")?, Context::None)?;
        self.char(' ');
        if like.options() == LIKE_ALL {
            self.str("INCLUDING ALL ");
        } else {
            for (bit, words) in LIKE_OPTIONS {
                if like.options() & bit != 0 {
                    self.str(words);
                }
            }
        }
        self.trim();
        Ok(())
    }
}
