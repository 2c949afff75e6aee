//! Prepared statements.

mod cache;
mod catalog;

use std::fmt;
use std::sync::{Arc, Mutex};

use postgres_types::Type;
use trunkline_session::frontend::connection::{BindTemplate, EncodeError};
use trunkline_wire::Format;
use trunkline_wire::backend::RowDescription;

pub use cache::StatementCache;
pub use catalog::{Catalog, LOOK_UP, LOOK_UP_TYPES};

use crate::rows::Column;

/// Names of statements that nobody has any more; they are closed with the next turn.
#[doc(hidden)]
pub type Unused = Arc<Mutex<Vec<Box<str>>>>;

/// A prepared statement. Cheap to clone; closed on the server when the last clone is gone.
#[derive(Clone)]
pub struct Statement(Arc<Inner>);

struct Inner {
    name: Box<str>,
    parameters: Box<[Type]>,
    columns: Arc<[Column]>,
    template: BindTemplate,
    unused: Unused,
}

impl Statement {
    /// A statement that the server has by this name; an empty one is the unnamed statement.
    #[doc(hidden)]
    pub fn new(
        name: &str,
        parameters: Vec<Type>,
        columns: Vec<Column>,
        unused: &Unused,
    ) -> Result<Self, EncodeError> {
        let binary = [Format::BINARY];
        let template = BindTemplate::new(name.as_bytes(), &binary, parameters.len(), &binary)?;
        Ok(Self(Arc::new(Inner {
            name: name.into(),
            parameters: parameters.into(),
            columns: columns.into(),
            template,
            unused: Arc::clone(unused),
        })))
    }

    /// The types of its parameters.
    #[must_use]
    pub fn parameters(&self) -> &[Type] {
        &self.0.parameters
    }

    /// The columns of its rows; none when it returns no rows.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.0.columns
    }

    #[doc(hidden)]
    #[must_use]
    pub fn shared_columns(&self) -> &Arc<[Column]> {
        &self.0.columns
    }

    /// Its name on the server; empty for the unnamed statement.
    #[doc(hidden)]
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    #[doc(hidden)]
    #[must_use]
    pub fn template(&self) -> &BindTemplate {
        &self.0.template
    }

    /// Whether it is a statement of the connection that has these.
    #[doc(hidden)]
    #[must_use]
    pub fn belongs_to(&self, unused: &Unused) -> bool {
        Arc::ptr_eq(&self.0.unused, unused)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // The unnamed statement is replaced by the next.
        if let (false, Ok(mut unused)) = (self.name.is_empty(), self.unused.lock()) {
            unused.push(std::mem::take(&mut self.name));
        }
    }
}

impl fmt::Debug for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Statement")
            .field("name", &self.0.name)
            .field("parameters", &self.0.parameters)
            .field("columns", &self.0.columns)
            .finish()
    }
}

/// What a server has described: types by their object ids.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Described {
    pub parameters: Vec<u32>,
    pub columns: Vec<(Column, u32)>,
}

impl Described {
    #[doc(hidden)]
    pub fn columns(&mut self, message: &RowDescription<'_>) {
        let column = |column: trunkline_wire::backend::Column<'_>| {
            let described = Column {
                name: String::from_utf8_lossy(column.name).into(),
                ty: Type::UNKNOWN,
                table: column.table,
                attribute: column.attribute,
            };
            (described, column.type_oid)
        };
        self.columns = message.columns.map(column).collect();
    }

    /// Types that are to be looked up.
    #[doc(hidden)]
    #[must_use]
    pub fn unknown(&self, catalog: &Catalog) -> Vec<u32> {
        let all = self.parameters.iter().copied().chain(self.columns.iter().map(|(_, oid)| *oid));
        let mut unknown: Vec<u32> = all.filter(|oid| !catalog.knows(*oid)).collect();
        unknown.sort_unstable();
        unknown.dedup();
        unknown
    }

    /// The types and columns, by what is known of types.
    #[doc(hidden)]
    #[must_use]
    pub fn resolve(self, catalog: &Catalog) -> (Vec<Type>, Vec<Column>) {
        let parameters = self.parameters.iter().map(|oid| catalog.find(*oid)).collect();
        let columns =
            self.columns.into_iter().map(|(column, oid)| Column { ty: catalog.find(oid), ..column });
        (parameters, columns.collect())
    }
}
