//! A template for Bind messages whose beginning and end are always the same.

use trunkline_wire::frontend::{Bind, Execute};
use trunkline_wire::{Format, write};

use super::error::EncodeError;

/// The bytes that all Binds of one statement have in common, and the Execute after them.
///
/// ```text
///   B len  portal 0 statement 0  formats  count | values | result formats   E len  portal 0  0
///  |<------------------ head ------------------>|        |<---- tail ------------------------>|
///                                                                          |<-- execute ----->|
/// ```
#[derive(Debug, Clone)]
pub struct BindTemplate {
    head: Box<[u8]>,
    tail: Box<[u8]>,
    /// The number of bytes of the Execute at the end of `tail`.
    execute_bytes: usize,
    /// The number of values that a Bind must have.
    values: u16,
}

impl BindTemplate {
    /// A template that binds `statement` to the unnamed portal, with `values` parameters.
    ///
    /// # Errors
    /// [`EncodeError`] for a zero byte in the name, or for a list of more than 65,535 items.
    pub fn new(
        statement: &[u8],
        parameter_formats: &[Format],
        values: usize,
        result_formats: &[Format],
    ) -> Result<Self, EncodeError> {
        Self::for_portal(b"", statement, parameter_formats, values, result_formats)
    }

    /// Binds `statement` to the portal of this name. The Execute is of it, too.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn for_portal(
        portal: &[u8],
        statement: &[u8],
        parameter_formats: &[Format],
        values: usize,
        result_formats: &[Format],
    ) -> Result<Self, EncodeError> {
        if write::has_zero(statement) {
            return Err(EncodeError::ZeroByte("statement name"));
        }
        if write::has_zero(portal) {
            return Err(EncodeError::ZeroByte("portal name"));
        }
        // A Bind without values and result formats ends with their two counts, of two bytes each.
        let mut head = Vec::new();
        Bind::write(&mut head, portal, statement, parameter_formats, &[], &[])?;
        head.truncate(head.len() - 2 * size_of::<u16>());
        write::count(&mut head, values)?;
        let mut tail = Vec::new();
        write::count(&mut tail, result_formats.len())?;
        for format in result_formats {
            write::i16(&mut tail, format.0);
        }
        let formats_bytes = tail.len();
        Execute { portal, max_rows: 0 }.encode(&mut tail);
        let execute_bytes = tail.len() - formats_bytes;
        let values = u16::try_from(values).unwrap_or(u16::MAX);
        Ok(Self { head: head.into(), tail: tail.into(), execute_bytes, values })
    }

    /// The number of values that a Bind must have.
    #[must_use]
    pub fn values(&self) -> u16 {
        self.values
    }

    /// Appends a Bind with the values that `fill` writes. After an error `out` is unchanged.
    #[inline]
    pub(super) fn write_bind<E: From<EncodeError>>(
        &self,
        out: &mut Vec<u8>,
        fill: impl FnOnce(&mut BindValues<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let formats_bytes = self.tail.len() - self.execute_bytes;
        self.write(out, self.tail.get(..formats_bytes).unwrap_or_default(), 0, fill)
    }

    /// Appends a Bind as [`write_bind`](Self::write_bind) does, and an Execute of all rows.
    #[inline]
    pub(super) fn write_bind_execute<E: From<EncodeError>>(
        &self,
        out: &mut Vec<u8>,
        fill: impl FnOnce(&mut BindValues<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.write(out, &self.tail, self.execute_bytes, fill)
    }

    #[inline]
    fn write<E: From<EncodeError>>(
        &self,
        out: &mut Vec<u8>,
        end: &[u8],
        after: usize,
        fill: impl FnOnce(&mut BindValues<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mark = write::begin_with(out, &self.head);
        let mut values = BindValues { out, left: self.values.into() };
        let outcome = fill(&mut values);
        let outcome = match values.left {
            _ if outcome.is_err() => outcome,
            0 => Ok(()),
            left => Err(EncodeError::ValueCount { expected: self.values, left }.into()),
        };
        if let Err(error) = outcome {
            write::abandon(out, mark);
            return Err(error);
        }
        write::try_end_with(out, mark, end, after).map_err(|error| EncodeError::from(error).into())
    }
}

/// The values of a Bind, one after the other.
#[derive(Debug)]
pub struct BindValues<'p> {
    out: &'p mut Vec<u8>,
    /// The number of values that are missing; negative if there were too many.
    left: i64,
}

impl BindValues<'_> {
    /// Writes NULL.
    #[inline]
    pub fn null(&mut self) {
        self.left -= 1;
        write::i32(self.out, -1);
    }

    /// Writes a value's bytes.
    ///
    /// # Errors
    /// [`EncodeError::TooLarge`] for more than 2^31 - 1 bytes.
    #[inline]
    pub fn value(&mut self, value: &[u8]) -> Result<(), EncodeError> {
        self.left -= 1;
        Ok(write::value(self.out, Some(value))?)
    }
}
