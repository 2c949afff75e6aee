//! Summaries: which tables, functions and columns a text is about.
//!
//! Equal to libpg_query's `pg_query_summary` element by element, in time and memory in proportion to the text.

mod collect;
mod table;
mod utility;

use std::collections::BTreeMap;

use crate::error::ParseError;
use crate::raw::ParsedSql;

/// What the statements of a text are about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The tables, views and the like, each time that one is named; not the names that WITH gives.
    pub tables: Vec<SummaryTable>,
    /// The aliases of tables, and the name of the table ([`SummaryTable::name`]). Of an alias that is given twice the
    /// last.
    pub aliases: BTreeMap<String, String>,
    /// The names that WITH gives.
    pub cte_names: Vec<String>,
    /// The functions, each time that one is named; those in WHERE twice.
    pub functions: Vec<SummaryFunction>,
    /// The columns in WHERE of a SELECT, up to the first SELECT inside of it.
    pub filter_columns: Vec<FilterColumn>,
    /// The types of statements, inner ones too, as the grammar calls them (`SelectStmt`), each once.
    pub statement_types: Vec<&'static str>,
}

/// A table of a [`Summary`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryTable {
    /// Schema and name with a point between, quoted where SQL needs it.
    pub name: String,
    /// The schema; empty if the text names none.
    pub schema_name: String,
    /// The name.
    pub table_name: String,
    /// What is done with it.
    pub context: SummaryContext,
}

/// A function of a [`Summary`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryFunction {
    /// All parts of the name with points between, not quoted.
    pub name: String,
    /// The last part.
    pub function_name: String,
    /// The schema; empty if the text names none.
    pub schema_name: String,
    /// What is done with it.
    pub context: SummaryContext,
}

/// A column in WHERE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterColumn {
    /// The schema; empty if the text names none.
    pub schema_name: String,
    /// The table or alias; empty if the text names none.
    pub table_name: String,
    /// The name.
    pub column: String,
}

/// What is done with a table or function. The numbers are pg_query's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SummaryContext {
    /// A table is read.
    Select = 1,
    /// A table's rows are changed.
    Dml = 2,
    /// It is made, changed, dropped, locked, granted...
    Ddl = 3,
    /// A function is called.
    Call = 4,
}

/// What the statements of a text are about.
///
/// ```
/// let summary = trunkline_parser::summary("WITH c AS (SELECT f(1)) SELECT * FROM s.t, c WHERE t.a = 1")?;
/// assert_eq!(summary.tables[0].name, "s.t");
/// assert_eq!(summary.cte_names, ["c"]);
/// assert_eq!(summary.functions[0].name, "f");
/// assert_eq!(summary.filter_columns[0].column, "a");
/// assert_eq!(summary.statement_types, ["SelectStmt"]);
/// # Ok::<(), trunkline_parser::ParseError>(())
/// ```
///
/// # Errors
/// As of [`parse`](crate::parse), and for a name in DROP that has more parts than a table's can.
pub fn summary(text: &str) -> Result<Summary, ParseError> {
    crate::parse(text)?.summary()
}

impl ParsedSql {
    /// As [`summary`](crate::summary) of the text that this tree was parsed from.
    ///
    /// # Errors
    /// For a name in DROP that has more parts than a table's can.
    pub fn summary(&self) -> Result<Summary, ParseError> {
        collect::collect(self.root())
    }
}

#[cfg(test)]
mod tests;
