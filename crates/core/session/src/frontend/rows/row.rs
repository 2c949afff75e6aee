//! One row. Its values are found when the caller first asks for them.

use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use trunkline_wire::Malformed;
use trunkline_wire::read::Reader;

/// The number of positions that are remembered in a row.
pub const MARKS: usize = 16;

/// The positions of values in a row that are already known, the *marks*.
///
/// If a row has up to [`MARKS`] columns, each column has a mark. In a wider row each n-th column has one, so that the
/// way to any value is at most a fixed part of the row, without extra memory. Several threads may search the same row
/// at the same time, because they find the same positions.
#[derive(Debug, Default)]
pub struct RowMarks {
    /// For each mark, the offset in the body of the length before the value.
    at: [AtomicU32; MARKS],
    /// How many entries of `at` are known, from the first on.
    known: AtomicU8,
}

/// The body of a DataRow. Its values are read when the caller asks for them.
#[derive(Default)]
pub struct RowView<'a> {
    body: &'a [u8],
    marks: RowMarks,
}

/// Why a value cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RowError {
    /// The row has fewer columns.
    #[error("the row has {columns} columns, so there is none at index {index}")]
    NoColumn {
        /// The index that was asked for, from 0.
        index: usize,
        /// The number of columns.
        columns: u16,
    },
    /// The lengths in the server's row are wrong.
    #[error("the server broke the protocol: {0}")]
    Malformed(#[from] Malformed),
}

impl<'a> RowView<'a> {
    /// A view of a DataRow's body.
    #[inline]
    #[must_use]
    pub fn new(body: &'a [u8]) -> Self {
        Self { body, marks: RowMarks::default() }
    }

    /// The body.
    #[must_use]
    pub fn body(&self) -> &'a [u8] {
        self.body
    }

    /// The number of columns, as the row gives it.
    #[inline]
    #[must_use]
    pub fn columns(&self) -> u16 {
        columns(self.body)
    }

    /// The value at `index`, from 0; `None` is NULL.
    ///
    /// # Errors
    /// [`RowError`] when the row has no such column, or is malformed before the end of the value.
    #[inline]
    pub fn value(&self, index: usize) -> Result<Option<&'a [u8]>, RowError> {
        self.marks.value(self.body, index)
    }
}

impl RowMarks {
    /// The value at `index` in `body`, the body of a DataRow. Each call must give the same body.
    ///
    /// # Errors
    /// As [`RowView::value`].
    #[inline]
    pub fn value<'a>(&self, body: &'a [u8], index: usize) -> Result<Option<&'a [u8]>, RowError> {
        let columns = columns(body);
        if index >= usize::from(columns) {
            return Err(RowError::NoColumn { index, columns });
        }
        if usize::from(columns) <= MARKS {
            return self.walk(body, index, index, 1);
        }
        // Columns from one mark to the next.
        let stride = usize::from(columns).div_ceil(MARKS);
        self.walk(body, index, index / stride, stride)
    }

    /// Goes from the last known mark at or before `mark` to the value, and stores marks on the way.
    #[inline]
    fn walk<'a>(
        &self,
        body: &'a [u8],
        index: usize,
        mark: usize,
        stride: usize,
    ) -> Result<Option<&'a [u8]>, RowError> {
        let (mut column, mut at) = self.nearest(mark, stride);
        let mut next_mark = column + stride;
        loop {
            let rest = body.get(at..).unwrap_or_default();
            let mut reader = Reader::new(rest);
            let value = reader.value("column value").map_err(|error| moved(error, at))?;
            if column == index {
                return Ok(value);
            }
            at += reader.offset();
            column += 1;
            if column == next_mark {
                self.note(if stride == 1 { column } else { column / stride }, at);
                next_mark += stride;
            }
        }
    }

    /// The last known mark at or before `mark`: its column and its offset.
    #[inline]
    fn nearest(&self, mark: usize, stride: usize) -> (usize, usize) {
        // The first value comes after the count.
        let known = usize::from(self.known.load(Ordering::Acquire));
        match mark.min(known) {
            0 => (0, size_of::<u16>()),
            mark => {
                let at = self.at.get(mark - 1).map_or(0, |at| at.load(Ordering::Relaxed));
                (mark * stride, at as usize)
            }
        }
    }

    #[inline]
    fn note(&self, mark: usize, at: usize) {
        let (Some(place), Ok(at), Ok(mark)) = (self.at.get(mark - 1), u32::try_from(at), u8::try_from(mark))
        else {
            return;
        };
        place.store(at, Ordering::Relaxed);
        if self.known.load(Ordering::Relaxed) < mark {
            self.known.store(mark, Ordering::Release);
        }
    }
}

impl Clone for RowView<'_> {
    fn clone(&self) -> Self {
        Self::new(self.body)
    }
}

/// `Debug` shows only sizes, so that values do not get into logs.
impl fmt::Debug for RowView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowView").field("columns", &self.columns()).field("bytes", &self.body.len()).finish()
    }
}

#[inline]
fn columns(body: &[u8]) -> u16 {
    body.first_chunk::<2>().map_or(0, |count| u16::from_be_bytes(*count))
}

#[cold]
fn moved(error: Malformed, by: usize) -> RowError {
    let offset = error.offset.saturating_add(u32::try_from(by).unwrap_or(u32::MAX));
    RowError::Malformed(Malformed { offset, ..error })
}
