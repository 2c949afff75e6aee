//! RowDescription: the columns of the rows to come.

use crate::list::Format;
use crate::read::{Malformed, Reader};
use crate::redact::Name;
use crate::write::{self, TooLarge};

/// The type byte of RowDescription.
pub const TAG: u8 = b'T';

/// RowDescription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowDescription<'a> {
    /// The columns from left to right.
    pub columns: Columns<'a>,
}

impl<'a> RowDescription<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// [`Malformed`] when it does not hold as many columns as it says.
    pub fn decode(body: &'a [u8]) -> Result<RowDescription<'a>, Malformed> {
        let mut reader = Reader::new(body);
        let count = reader.u16("number of columns")?;
        let bytes = reader.peek();
        for _ in 0..count {
            Column::read(&mut reader)?;
        }
        reader.finish()?;
        Ok(RowDescription { columns: Columns { count, bytes } })
    }

    /// Appends the message to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mark = write::begin(out, TAG);
        write::u16(out, self.columns.count);
        write::bytes(out, self.columns.bytes);
        write::end(out, mark);
    }

    /// Appends a RowDescription of these columns to `out`.
    ///
    /// # Errors
    /// [`TooLarge`] when there are more than 65,535, or when they make more than 2^31 - 1 bytes; `out` is then as it was.
    pub fn write(out: &mut Vec<u8>, columns: &[Column<'_>]) -> Result<(), TooLarge> {
        write::fallible(out, TAG, |out| {
            write::count(out, columns.len())?;
            for column in columns {
                column.append(out);
            }
            Ok(())
        })
    }
}

/// One column of a result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Column<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// The object id of the table it is a column of, or 0.
    pub table: u32,
    /// Which column of that table it is, from 1, or 0.
    pub attribute: i16,
    /// The object id of its type.
    pub type_oid: u32,
    /// Bytes of the type (`pg_type.typlen`); negative when they vary.
    pub type_size: i16,
    /// What qualifies the type (`pg_attribute.atttypmod`), such as the length of a varchar; often -1.
    pub type_modifier: i32,
    /// How its values are written. When a statement is described this is not known yet, and 0.
    pub format: Format,
}

impl<'a> Column<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Column<'a>, Malformed> {
        Ok(Column {
            name: reader.cstr("column name")?,
            table: reader.u32("column's table")?,
            attribute: reader.i16("column's number")?,
            type_oid: reader.u32("column's type")?,
            type_size: reader.i16("column's type size")?,
            type_modifier: reader.i32("column's type modifier")?,
            format: Format(reader.i16("column's format")?),
        })
    }

    fn append(&self, out: &mut Vec<u8>) {
        write::cstr(out, self.name);
        write::u32(out, self.table);
        write::i16(out, self.attribute);
        write::u32(out, self.type_oid);
        write::i16(out, self.type_size);
        write::i32(out, self.type_modifier);
        write::i16(out, self.format.0);
    }
}

impl std::fmt::Debug for Column<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Column")
            .field("name", &Name(self.name))
            .field("type_oid", &self.type_oid)
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}

/// Columns from left to right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns<'a> {
    /// How many are left.
    count: u16,
    /// Those that are left.
    bytes: &'a [u8],
}

impl<'a> Iterator for Columns<'a> {
    type Item = Column<'a>;

    fn next(&mut self) -> Option<Column<'a>> {
        self.count = self.count.checked_sub(1)?;
        let mut reader = Reader::new(self.bytes);
        // `decode` has walked over these bytes already, so there is no error to lose here.
        let column = Column::read(&mut reader).ok()?;
        self.bytes = reader.peek();
        Some(column)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.count.into(), Some(self.count.into()))
    }
}

impl ExactSizeIterator for Columns<'_> {}
