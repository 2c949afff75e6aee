//! RowDescription: the columns of a result.

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
    /// [`Malformed`] when the number of columns is not the number that the message gives.
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
    /// [`TooLarge`] when there are more than 65,535, or when the message has more than 2^31 - 1 bytes; `out`
    /// is then unchanged.
    pub fn write(out: &mut Vec<u8>, columns: &[Column<'_>]) -> Result<(), TooLarge> {
        write::try_message(out, TAG, |out| {
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
    /// The column's name.
    pub name: &'a [u8],
    /// The object id of the table that the column belongs to, or 0.
    pub table: u32,
    /// The number of the column in that table, from 1, or 0.
    pub attribute: i16,
    /// The object id of the column's type.
    pub type_oid: u32,
    /// The size of the type in bytes (`pg_type.typlen`); negative when the size varies.
    pub type_size: i16,
    /// The type modifier (`pg_attribute.atttypmod`), such as the length of a varchar; often -1.
    pub type_modifier: i32,
    /// The format of the values. In the description of a statement it is always 0, because Bind chooses the format.
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

/// An iterator over the columns, from left to right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns<'a> {
    /// The number of columns that are left.
    count: u16,
    /// The columns that are left.
    bytes: &'a [u8],
}

impl<'a> Iterator for Columns<'a> {
    type Item = Column<'a>;

    fn next(&mut self) -> Option<Column<'a>> {
        self.count = self.count.checked_sub(1)?;
        let mut reader = Reader::new(self.bytes);
        // `decode` has checked these bytes, so this cannot fail.
        let column = Column::read(&mut reader).ok()?;
        self.bytes = reader.peek();
        Some(column)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.count.into(), Some(self.count.into()))
    }
}

impl ExactSizeIterator for Columns<'_> {}
