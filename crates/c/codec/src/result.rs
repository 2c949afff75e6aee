//! What a server has answered, kept whole: rows, the ends of commands, an error, copied data.
//!
//! ```text
//!   bytes   D len row | D len row | 2 len | C len tag | 2 len | D len row | C len tag    whole messages, or copied data
//!   rows    ^           ^                                       ^                        where rows begin
//!   items                                   ^ rows: 2                       ^ rows: 3    where commands ended
//! ```

use std::sync::Arc;

use trunkline_session::frontend::rows::{RowError, RowMarks};
use trunkline_wire::backend::{ErrorResponse, RowDescription};
use trunkline_wire::{Format, HEADER_BYTES};

use crate::status::{Status, TRUNKLINE_LIMIT, TRUNKLINE_NO_SUCH, TRUNKLINE_PROTOCOL};

/// Bytes of a result's messages: places in it are numbers of 32 bits. What is longer comes in pieces.
pub const RESULT_BYTES_MAX: usize = 1 << 30;

/// See the module.
#[derive(Debug, Default)]
pub struct ResultSet {
    pub(crate) bytes: Vec<u8>,
    pub(crate) rows: Vec<u32>,
    pub(crate) items: Vec<ItemEnd>,
    pub(crate) columns: Option<Arc<Columns>>,
    pub(crate) parameters: Vec<u32>,
    /// How values are written where no column says it.
    pub(crate) binary: bool,
    /// An error's or a notice's fields.
    pub(crate) fields: Vec<(u8, Vec<u8>)>,
    pub(crate) notification: Option<Notification>,
    /// Where the values of the row are that was looked at last.
    marks: RowMarks,
    marked_row: u64,
}

/// The end of a command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ItemEnd {
    /// Rows up to here.
    rows: u32,
    /// Where in `bytes` its tag is.
    tag_at: u32,
    tag_bytes: u32,
}

/// A column, as it was described.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    /// Where in [`Columns::names`] its name ends.
    name_end: usize,
    pub(crate) type_oid: u32,
    pub(crate) table: u32,
    pub(crate) type_modifier: i32,
    pub(crate) type_size: i16,
    pub(crate) attribute: i16,
    pub(crate) format: Format,
}

/// The columns of a result, or of a statement.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    names: Vec<u8>,
    list: Vec<Column>,
}

/// A NOTIFY.
#[derive(Debug)]
pub(crate) struct Notification {
    pub(crate) process_id: i32,
    pub(crate) channel: Vec<u8>,
    pub(crate) payload: Vec<u8>,
}

impl Columns {
    pub(crate) fn of(message: &RowDescription<'_>) -> Self {
        let mut columns = Self::default();
        for column in message.columns {
            columns.names.extend_from_slice(column.name);
            columns.list.push(Column {
                name_end: columns.names.len(),
                type_oid: column.type_oid,
                table: column.table,
                type_modifier: column.type_modifier,
                type_size: column.type_size,
                attribute: column.attribute,
                format: column.format,
            });
        }
        columns
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn get(&self, index: usize) -> Option<(&Column, &[u8])> {
        let column = self.list.get(index)?;
        let begin = index.checked_sub(1).and_then(|before| self.list.get(before));
        let begin = begin.map_or(0, |before| before.name_end);
        Some((column, self.names.get(begin..column.name_end)?))
    }

    pub(crate) fn find(&self, name: &[u8]) -> Option<usize> {
        (0..self.len()).find(|index| self.get(*index).is_some_and(|(_, found)| found == name))
    }
}

impl ResultSet {
    /// What an error or notice says.
    pub(crate) fn of_fields<'f>(fields: impl Iterator<Item = (u8, &'f [u8])>) -> Self {
        Self { fields: fields.map(|(letter, text)| (letter, text.to_vec())).collect(), ..Self::default() }
    }

    /// A server's error.
    pub(crate) fn of_error(error: &ErrorResponse<'_>) -> Self {
        Self::of_fields(error.iter())
    }

    pub(crate) fn of_notification(notification: Notification) -> Self {
        Self { notification: Some(notification), ..Self::default() }
    }

    pub(crate) fn of_columns(columns: Arc<Columns>) -> Self {
        Self { columns: Some(columns), ..Self::default() }
    }

    /// An error of this side: a message, and no SQLSTATE.
    #[must_use]
    pub fn of_message(message: &str) -> Self {
        Self::of_fields([(b'M', message.as_bytes())].into_iter())
    }

    /// Sets a field of an error: its letter (manual, "Error and Notice Message Fields") and its text.
    pub fn set_field(&mut self, letter: u8, text: &str) {
        self.fields.retain(|(found, _)| *found != letter);
        self.fields.push((letter, text.as_bytes().to_vec()));
    }

    /// A field of an error or a notice.
    pub(crate) fn field(&self, letter: u8) -> Option<&[u8]> {
        self.fields.iter().find(|(found, _)| *found == letter).map(|(_, text)| &**text)
    }

    /// Rows that are in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether it has no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Commands that have ended in it.
    #[must_use]
    pub fn items(&self) -> usize {
        self.items.len()
    }

    /// Adds what another result has: the next part of a batch.
    ///
    /// # Errors
    /// `TRUNKLINE_LIMIT` when both together are longer than [`RESULT_BYTES_MAX`].
    pub fn append(&mut self, other: &Self) -> Result<(), Status> {
        let (bytes, rows) = (self.bytes.len(), self.rows.len());
        if bytes + other.bytes.len() > RESULT_BYTES_MAX {
            return Err(Status(TRUNKLINE_LIMIT));
        }
        self.binary = other.binary;
        self.bytes.extend_from_slice(&other.bytes);
        self.rows.extend(other.rows.iter().map(|at| at + bytes as u32));
        self.items.extend(other.items.iter().map(|item| ItemEnd {
            rows: item.rows + rows as u32,
            tag_at: item.tag_at + bytes as u32,
            tag_bytes: item.tag_bytes,
        }));
        if self.columns.is_none() {
            self.columns.clone_from(&other.columns);
        }
        Ok(())
    }

    /// How many rows a command has changed or returned, by its tag.
    #[must_use]
    pub fn affected(&self, item: u64) -> Option<u64> {
        trunkline_wire::backend::CommandComplete { command_tag: self.tag(item)? }.rows()
    }

    /// Empties it, and keeps its memory.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.rows.clear();
        self.items.clear();
        self.columns = None;
        self.parameters.clear();
        self.fields.clear();
        self.notification = None;
        self.marked_row = 0;
        self.marks = RowMarks::default();
    }

    /// Takes `count` DataRow messages.
    pub(crate) fn take_rows(&mut self, frames: &[u8], count: u32) {
        let mut at = self.bytes.len();
        self.bytes.extend_from_slice(frames);
        self.rows.reserve(count as usize);
        while let Some(length) = self.frame_length(at) {
            self.rows.push(at as u32);
            at += length;
        }
    }

    /// Takes messages of a batch: rows, and the ends of at most `items_max` items. How many bytes were taken, and how many
    /// items ended.
    pub(crate) fn take_batch(&mut self, frames: &[u8], items_max: u32) -> (usize, u32) {
        use trunkline_wire::backend::{command_complete, data_row, empty_query_response};
        let begun = self.bytes.len();
        self.bytes.extend_from_slice(frames);
        let (mut at, mut items) = (begun, 0);
        while items < items_max
            && let Some(length) = self.frame_length(at)
        {
            match self.bytes.get(at) {
                Some(&data_row::TAG) => self.rows.push(at as u32),
                Some(&command_complete::TAG) => {
                    // Its text ends with a zero byte.
                    let tag_bytes = (length - HEADER_BYTES).saturating_sub(1);
                    self.end_item_at(at + HEADER_BYTES, tag_bytes);
                    items += 1;
                }
                Some(&empty_query_response::TAG) => {
                    self.end_item_at(at, 0);
                    items += 1;
                }
                _ => {}
            }
            at += length;
        }
        self.bytes.truncate(at);
        (at - begun, items)
    }

    /// A command has ended.
    pub(crate) fn end_item(&mut self, tag: &[u8]) {
        let at = self.bytes.len();
        self.bytes.extend_from_slice(tag);
        self.end_item_at(at, tag.len());
    }

    fn end_item_at(&mut self, tag_at: usize, tag_bytes: usize) {
        let rows = self.rows.len() as u32;
        self.items.push(ItemEnd { rows, tag_at: tag_at as u32, tag_bytes: tag_bytes as u32 });
    }

    /// Bytes of the whole message at `at`.
    #[inline]
    fn frame_length(&self, at: usize) -> Option<usize> {
        let length = self.bytes.get(at + 1..)?.first_chunk::<4>()?;
        // A run has whole messages only, whose lengths count themselves.
        Some((u32::from_be_bytes(*length) as usize).max(size_of::<u32>()) + 1)
    }

    /// A row's DataRow body.
    #[inline]
    pub(crate) fn row(&self, index: u64) -> Option<&[u8]> {
        let at = *self.rows.get(usize::try_from(index).ok()?)? as usize;
        self.bytes.get(at + HEADER_BYTES..at + self.frame_length(at)?)
    }

    /// A value; `None` is NULL. Later values of a row are found from where earlier ones were.
    #[inline]
    pub(crate) fn value(&mut self, row: u64, column: u32) -> Result<Option<&[u8]>, Status> {
        if row != self.marked_row {
            self.marks = RowMarks::default();
            self.marked_row = row;
        }
        let body = self.row(row).ok_or(Status(TRUNKLINE_NO_SUCH))?;
        self.marks.value(body, column as usize).map_err(|error| match error {
            RowError::NoColumn { .. } => Status(TRUNKLINE_NO_SUCH),
            _ => Status(TRUNKLINE_PROTOCOL),
        })
    }

    /// How a column's values are written.
    #[inline]
    pub(crate) fn format(&self, column: u32) -> Format {
        let described = self.columns.as_ref().and_then(|columns| columns.list.get(column as usize));
        described.map_or(if self.binary { Format::BINARY } else { Format::TEXT }, |column| column.format)
    }

    /// The object id of a column's type, where it was described.
    #[inline]
    pub(crate) fn type_of(&self, column: u32) -> Option<u32> {
        Some(self.columns.as_ref()?.list.get(column as usize)?.type_oid)
    }

    /// Columns of its rows: as described, else as its first row has them.
    pub(crate) fn width(&self) -> usize {
        if let Some(columns) = &self.columns {
            return columns.len();
        }
        let first = self.row(0).and_then(|body| body.first_chunk::<2>());
        first.map_or(0, |count| u16::from_be_bytes(*count).into())
    }

    /// A command's tag.
    pub(crate) fn tag(&self, item: u64) -> Option<&[u8]> {
        let item = self.items.get(usize::try_from(item).ok()?)?;
        let begin = item.tag_at as usize;
        self.bytes.get(begin..begin + item.tag_bytes as usize)
    }

    /// Which rows an item has: the first, and how many.
    pub(crate) fn rows_of(&self, item: u64) -> Option<(u64, u64)> {
        let index = usize::try_from(item).ok()?;
        let end = self.items.get(index)?.rows;
        let begin =
            index.checked_sub(1).and_then(|before| self.items.get(before)).map_or(0, |item| item.rows);
        Some((begin.into(), (end - begin).into()))
    }
}
