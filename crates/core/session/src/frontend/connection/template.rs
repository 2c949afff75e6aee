//! A Bind whose beginning and end are always the same.

use trunkline_wire::frontend::{Bind, Execute, bind};
use trunkline_wire::{Format, HEADER_BYTES, write};

use super::error::EncodeError;

/// What all Binds of one statement have in common, and the Execute behind them.
///
/// ```text
///   B len  portal 0 statement 0  formats  count | values | result formats   E len  portal 0  0
///         |<------------- head -------------->|          |<---- tail ---->|<--- execute --->|
/// ```
#[derive(Debug, Clone)]
pub struct BindTemplate {
    head: Box<[u8]>,
    tail: Box<[u8]>,
    execute: Box<[u8]>,
    /// Values a Bind must have.
    values: u16,
}

impl BindTemplate {
    /// Binds `statement` to the unnamed portal, with `values` parameters.
    ///
    /// # Errors
    /// [`EncodeError`] for a zero byte in the name, or lists of more than 65,535.
    pub fn new(
        statement: &[u8],
        parameter_formats: &[Format],
        values: usize,
        result_formats: &[Format],
    ) -> Result<Self, EncodeError> {
        if write::has_zero(statement) {
            return Err(EncodeError::ZeroByte("statement name"));
        }
        // A Bind without values and result formats ends with the counts of both, two bytes each.
        let mut head = Vec::new();
        Bind::write(&mut head, b"", statement, parameter_formats, &[], &[])?;
        head.truncate(head.len() - 2 * size_of::<u16>());
        head.drain(..HEADER_BYTES);
        write::count(&mut head, values)?;
        let mut tail = Vec::new();
        write::count(&mut tail, result_formats.len())?;
        for format in result_formats {
            write::i16(&mut tail, format.0);
        }
        let mut execute = Vec::new();
        Execute { portal: b"", max_rows: 0 }.encode(&mut execute);
        let values = u16::try_from(values).unwrap_or(u16::MAX);
        Ok(Self { head: head.into(), tail: tail.into(), execute: execute.into(), values })
    }

    /// Values a Bind must have.
    #[must_use]
    pub fn values(&self) -> u16 {
        self.values
    }

    /// Appends a Bind with the values that `fill` writes; on an error `out` is as it was.
    #[inline]
    pub(super) fn write_bind<E: From<EncodeError>>(
        &self,
        out: &mut Vec<u8>,
        fill: impl FnOnce(&mut BindValues<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mark = write::begin(out, bind::TAG);
        out.extend_from_slice(&self.head);
        let mut values = BindValues { out, left: self.values.into() };
        let outcome = fill(&mut values);
        let left = values.left;
        let outcome = match left {
            _ if outcome.is_err() => outcome,
            0 => Ok(()),
            left => Err(EncodeError::ValueCount { expected: self.values, left }.into()),
        };
        if let Err(error) = outcome {
            write::abandon(out, mark);
            return Err(error);
        }
        out.extend_from_slice(&self.tail);
        write::try_end(out, mark).map_err(|error| EncodeError::from(error).into())
    }

    /// Appends a Bind as [`write_bind`](Self::write_bind) does, and an Execute of all rows.
    #[inline]
    pub(super) fn write_bind_execute<E: From<EncodeError>>(
        &self,
        out: &mut Vec<u8>,
        fill: impl FnOnce(&mut BindValues<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.write_bind(out, fill)?;
        out.extend_from_slice(&self.execute);
        Ok(())
    }
}

/// The values of a Bind, one after the other.
#[derive(Debug)]
pub struct BindValues<'p> {
    out: &'p mut Vec<u8>,
    /// Values still to come; negative when there were too many.
    left: i64,
}

impl BindValues<'_> {
    /// NULL.
    #[inline]
    pub fn null(&mut self) {
        self.left -= 1;
        write::i32(self.out, -1);
    }

    /// A value as it is.
    ///
    /// # Errors
    /// [`EncodeError::TooLarge`] beyond 2^31 - 1 bytes.
    #[inline]
    pub fn value(&mut self, value: &[u8]) -> Result<(), EncodeError> {
        self.left -= 1;
        Ok(write::value(self.out, Some(value))?)
    }
}
