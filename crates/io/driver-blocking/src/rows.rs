//! Results: one buffer, looked into when asked.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use postgres_types::{FromSql, Type, WrongType};
use trunkline_session::frontend::rows::{Frames, RowError, RowMarks};
use trunkline_wire::HEADER_BYTES;

use crate::error::{Error, Kind};

/// A column of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    pub(crate) name: Box<str>,
    pub(crate) ty: Type,
    pub(crate) table: u32,
    pub(crate) attribute: i16,
}

impl Column {
    /// A column without a name.
    #[doc(hidden)]
    #[must_use]
    pub fn of_type(ty: Type) -> Self {
        Self { name: "".into(), ty, table: 0, attribute: 0 }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its type.
    #[must_use]
    pub fn ty(&self) -> &Type {
        &self.ty
    }

    /// The object id of the table it is a column of, if it is one.
    #[must_use]
    pub fn table(&self) -> Option<u32> {
        Some(self.table).filter(|table| *table != 0)
    }

    /// Which column of that table it is, from 1.
    #[must_use]
    pub fn attribute(&self) -> Option<i16> {
        Some(self.attribute).filter(|attribute| *attribute != 0)
    }
}

/// What names a column: its index from 0, or its name.
pub trait ColumnIndex: fmt::Display {
    /// The index; of several columns of a name the first.
    fn find(&self, columns: &[Column]) -> Option<usize>;
}

impl ColumnIndex for usize {
    #[inline]
    fn find(&self, columns: &[Column]) -> Option<usize> {
        (*self < columns.len()).then_some(*self)
    }
}

impl ColumnIndex for str {
    fn find(&self, columns: &[Column]) -> Option<usize> {
        columns.iter().position(|column| *column.name == *self)
    }
}

impl<T: ColumnIndex + ?Sized> ColumnIndex for &T {
    #[inline]
    fn find(&self, columns: &[Column]) -> Option<usize> {
        (**self).find(columns)
    }
}

/// The rows of a result: one buffer, shared by all that have a part of it. Cheap to clone.
#[derive(Clone)]
pub struct Rows {
    columns: Arc<[Column]>,
    frames: Bytes,
    count: usize,
    affected: Option<u64>,
    /// Where each row begins, once a row was asked for by its number.
    index: Arc<OnceLock<Box<[usize]>>>,
}

impl Rows {
    /// A result of DataRow messages, others between them passed over.
    #[doc(hidden)]
    #[must_use]
    pub fn new(columns: Arc<[Column]>, frames: Vec<u8>, count: usize, affected: Option<u64>) -> Self {
        Self { columns, frames: frames.into(), count, affected, index: Arc::default() }
    }

    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The columns of each row.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Rows that the command has changed or returned, as its command tag says.
    #[must_use]
    pub fn affected(&self) -> Option<u64> {
        self.affected
    }

    /// The rows in their order. Each borrows this result; nothing is allocated or counted for a row.
    pub fn iter(&self) -> RowIter<'_> {
        RowIter { columns: &self.columns, frames: Frames::rows(&self.frames), left: self.count }
    }

    /// The row at `index`, from 0. The first such call notes where each row begins.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Row<'_>> {
        let starts = self.index.get_or_init(|| {
            let mut frames = Frames::rows(&self.frames);
            let total = self.frames.len();
            let starts = (0..self.count).map(|_| {
                frames.next().map_or(total, |body| total - frames.remaining() - body.len() - HEADER_BYTES)
            });
            starts.collect()
        });
        let start = *starts.get(index)?;
        let body = Frames::rows(self.frames.get(start..)?).next()?;
        Some(Row::new(&self.columns, body))
    }

    /// The only row.
    #[doc(hidden)]
    pub fn only(&self, expected: &'static str) -> Result<Option<OwnedRow>, Error> {
        if self.count > 1 {
            return Err(Error::new(Kind::RowCount { rows: self.count, expected }));
        }
        let body = Frames::rows(&self.frames).next().map(|body| self.frames.slice_ref(body));
        Ok(body.map(|body| OwnedRow::new(Arc::clone(&self.columns), body)))
    }
}

impl<'r> IntoIterator for &'r Rows {
    type Item = Row<'r>;
    type IntoIter = RowIter<'r>;

    fn into_iter(self) -> RowIter<'r> {
        self.iter()
    }
}

/// Sizes only: values stay out of logs.
impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows").field("rows", &self.count).field("bytes", &self.frames.len()).finish()
    }
}

/// Goes through [`Rows`].
#[derive(Debug, Clone)]
pub struct RowIter<'r> {
    columns: &'r [Column],
    frames: Frames<'r>,
    left: usize,
}

impl<'r> Iterator for RowIter<'r> {
    type Item = Row<'r>;

    #[inline]
    fn next(&mut self) -> Option<Row<'r>> {
        let body = self.frames.next()?;
        self.left = self.left.saturating_sub(1);
        Some(Row::new(self.columns, body))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for RowIter<'_> {}

/// A row of a result, borrowed from it.
pub struct Row<'r> {
    columns: &'r [Column],
    body: &'r [u8],
    marks: RowMarks,
}

impl<'r> Row<'r> {
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub fn new(columns: &'r [Column], body: &'r [u8]) -> Self {
        Self { columns, body, marks: RowMarks::default() }
    }

    /// The columns.
    #[must_use]
    pub fn columns(&self) -> &'r [Column] {
        self.columns
    }

    /// A column's value. It may borrow the result: `row.get::<&str>("name")`.
    ///
    /// # Errors
    /// When there is no such column, its type is not one that `T` reads, or the value does not decode.
    #[inline]
    pub fn get<'v, T: FromSql<'v>>(&'v self, column: impl ColumnIndex) -> Result<T, Error> {
        decode(self.columns, self.body, &self.marks, &column)
    }

    /// A column's bytes as the server sent them; `None` is NULL.
    ///
    /// # Errors
    /// When there is no such column, or the row is malformed.
    pub fn raw(&self, column: impl ColumnIndex) -> Result<Option<&'r [u8]>, Error> {
        let (_, value) = find(self.columns, self.body, &self.marks, &column)?;
        Ok(value)
    }
}

impl fmt::Debug for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Row").field("columns", &self.columns.len()).field("bytes", &self.body.len()).finish()
    }
}

/// A row that keeps its result's buffer.
pub struct OwnedRow {
    columns: Arc<[Column]>,
    buffer: Bytes,
    /// Where in it.
    body: Range<usize>,
    marks: RowMarks,
}

impl OwnedRow {
    /// A row of a DataRow's body.
    #[doc(hidden)]
    #[must_use]
    pub fn new(columns: Arc<[Column]>, body: Bytes) -> Self {
        let length = body.len();
        Self::within(columns, body, 0..length)
    }

    /// A row of a DataRow's body that is a part of `buffer`.
    #[doc(hidden)]
    #[must_use]
    pub fn within(columns: Arc<[Column]>, buffer: Bytes, body: Range<usize>) -> Self {
        Self { columns, buffer, body, marks: RowMarks::default() }
    }

    fn body(&self) -> &[u8] {
        self.buffer.get(self.body.clone()).unwrap_or_default()
    }

    /// The columns.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// A column's value, as [`Row::get`].
    ///
    /// # Errors
    /// As [`Row::get`].
    #[inline]
    pub fn get<'v, T: FromSql<'v>>(&'v self, column: impl ColumnIndex) -> Result<T, Error> {
        decode(&self.columns, self.body(), &self.marks, &column)
    }
}

impl fmt::Debug for OwnedRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedRow").field("columns", &self.columns.len()).finish_non_exhaustive()
    }
}

#[inline]
fn find<'v, 'c>(
    columns: &'c [Column],
    body: &'v [u8],
    marks: &RowMarks,
    column: &impl ColumnIndex,
) -> Result<(&'c Column, Option<&'v [u8]>), Error> {
    let found = column.find(columns).and_then(|index| Some((index, columns.get(index)?)));
    let Some((index, found)) = found else { return Err(no_column(column)) };
    Ok((found, marks.value(body, index)?))
}

#[inline]
fn decode<'v, T: FromSql<'v>>(
    columns: &[Column],
    body: &'v [u8],
    marks: &RowMarks,
    column: &impl ColumnIndex,
) -> Result<T, Error> {
    let (found, value) = find(columns, body, marks, column)?;
    if !T::accepts(&found.ty) {
        return Err(unfit(found, Box::new(WrongType::new::<T>(found.ty.clone()))));
    }
    T::from_sql_nullable(&found.ty, value).map_err(|source| unfit(found, source))
}

#[cold]
fn unfit(column: &Column, source: Box<dyn std::error::Error + Send + Sync>) -> Error {
    Error::new(Kind::Column { column: column.name.to_string(), source })
}

#[cold]
fn no_column(column: &dyn fmt::Display) -> Error {
    Error::new(Kind::NoColumn(column.to_string()))
}

impl From<trunkline_wire::Malformed> for Kind {
    fn from(error: trunkline_wire::Malformed) -> Self {
        Self::Row(RowError::Malformed(error))
    }
}
