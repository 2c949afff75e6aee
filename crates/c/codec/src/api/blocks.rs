//! Many values with one call, where a call for each would cost more than the value.

use trunkline_wire::Format;

use crate::api::encode::Value;
use crate::api::results::raw;
use crate::boundary::{Out, call};
use crate::objects::RESULTS;
use crate::result::ResultSet;
use crate::status::{Status, TRUNKLINE_BAD_ARGUMENT, TRUNKLINE_NO_SUCH, TRUNKLINE_OK, TRUNKLINE_PROTOCOL};
use crate::typed;

/// The values of a row, one after the other.
struct Cells<'r> {
    rest: &'r [u8],
    left: u16,
}

impl<'r> Cells<'r> {
    #[inline]
    fn of(body: &'r [u8]) -> Self {
        match body.split_first_chunk::<2>() {
            Some((count, rest)) => Self { rest, left: u16::from_be_bytes(*count) },
            None => Self { rest: &[], left: 0 },
        }
    }

    /// The next value; an error when the row has no more, or its lengths do not add up.
    #[inline]
    fn next(&mut self) -> Result<Option<&'r [u8]>, Status> {
        self.left = self.left.checked_sub(1).ok_or(Status(TRUNKLINE_NO_SUCH))?;
        let (length, rest) = self.rest.split_first_chunk::<4>().ok_or(Status(TRUNKLINE_PROTOCOL))?;
        let length = i32::from_be_bytes(*length);
        if length == -1 {
            self.rest = rest;
            return Ok(None);
        }
        let length = usize::try_from(length).map_err(|_| Status(TRUNKLINE_PROTOCOL))?;
        let (value, rest) = rest.split_at_checked(length).ok_or(Status(TRUNKLINE_PROTOCOL))?;
        self.rest = rest;
        Ok(Some(value))
    }
}

/// The values of `rows` rows from `first` on, the first `columns` of each, written to `values` one row after the other: an
/// array of `rows` times `columns`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_result_values(
    result: u64,
    first: u64,
    rows: u64,
    columns: u32,
    values: *mut Value,
) -> i32 {
    call(|| {
        let count = usize::try_from(rows).ok().and_then(|rows| rows.checked_mul(columns as usize));
        let count = count.ok_or(Status(TRUNKLINE_BAD_ARGUMENT))?;
        // SAFETY: the caller's promise.
        let mut out = unsafe { Out::many(values, count) }?;
        RESULTS.with(result, |result| {
            let usual = if result.binary { Format::BINARY } else { Format::TEXT };
            let described = result.columns.is_some();
            let mut at = 0;
            for row in rows_of(result, first, rows)? {
                let mut cells = Cells::of(result.row(row).ok_or(Status(TRUNKLINE_NO_SUCH))?);
                for column in 0..columns {
                    let format = if described { result.format(column) } else { usual };
                    out.put_at(at, raw(cells.next()?, format.0.into()));
                    at += 1;
                }
            }
            Ok(TRUNKLINE_OK)
        })
    })
}

/// A column's integers in `rows` rows from `first` on. `nulls` (may be null: then no value may be NULL) gets 1 for NULL, whose
/// value is 0, and else 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_result_i64s(
    result: u64,
    column: u32,
    first: u64,
    rows: u64,
    values: *mut i64,
    nulls: *mut u8,
) -> i32 {
    column_of(result, column, first, rows, values, nulls, typed::integer)
}

/// A column's floating-point numbers, as trunkline_result_i64s.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_result_f64s(
    result: u64,
    column: u32,
    first: u64,
    rows: u64,
    values: *mut f64,
    nulls: *mut u8,
) -> i32 {
    column_of(result, column, first, rows, values, nulls, typed::float)
}

fn column_of<T: Default>(
    result: u64,
    column: u32,
    first: u64,
    rows: u64,
    values: *mut T,
    nulls: *mut u8,
    decode: impl Fn(&[u8], Format, Option<u32>) -> Result<T, Status>,
) -> i32 {
    call(|| {
        let count = usize::try_from(rows).map_err(|_| Status(TRUNKLINE_BAD_ARGUMENT))?;
        let nullable = !nulls.is_null();
        // SAFETY: the caller's promise.
        let (mut out, mut nulls) =
            unsafe { (Out::many(values, count)?, Out::many(nulls, if nullable { count } else { 0 })?) };
        RESULTS.with(result, |result| {
            let (format, type_oid) = (result.format(column), result.type_of(column));
            for (at, row) in rows_of(result, first, rows)?.enumerate() {
                let mut cells = Cells::of(result.row(row).ok_or(Status(TRUNKLINE_NO_SUCH))?);
                for _ in 0..column {
                    cells.next()?;
                }
                let value = cells.next()?;
                if value.is_none() && !nullable {
                    return Err(Status(crate::status::TRUNKLINE_TYPE));
                }
                nulls.put_at(at, value.is_none().into());
                out.put_at(at, value.map_or(Ok(T::default()), |value| decode(value, format, type_oid))?);
            }
            Ok(TRUNKLINE_OK)
        })
    })
}

fn rows_of(result: &ResultSet, first: u64, rows: u64) -> Result<std::ops::Range<u64>, Status> {
    let end = first.checked_add(rows).filter(|end| *end <= result.len() as u64);
    end.map(|end| first..end).ok_or(Status(TRUNKLINE_NO_SUCH))
}
