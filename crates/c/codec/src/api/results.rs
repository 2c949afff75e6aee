//! Results: rows, the ends of commands, errors, copied data. What a function points to is valid until the result is freed.

use crate::api::encode::Value;
use crate::boundary::{Bytes, Out, call};
use crate::objects::{RESULTS, SESSIONS};
use crate::result::ResultSet;
use crate::status::{Status, TRUNKLINE_NO_SUCH, TRUNKLINE_NONE, TRUNKLINE_NULL, TRUNKLINE_OK};
use crate::typed;

/// A column of a result or a statement.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ColumnInfo {
    /// Its name.
    pub name: Bytes,
    /// The object id of its type.
    pub type_oid: u32,
    /// The object id of the table it is a column of; 0: of none.
    pub table: u32,
    /// What the type was given in parentheses, as the type has it; -1: nothing.
    pub type_modifier: i32,
    /// Which column of the table it is, from 1; 0: of none.
    pub attribute: i16,
    /// The type's size in bytes; negative: it varies.
    pub type_size: i16,
    /// How its values are written: 0 text, 1 binary. Of a statement that was described, always 0.
    pub format: i32,
}

/// Frees a result.
#[unsafe(no_mangle)]
pub extern "C" fn trunkline_result_free(result: u64) -> i32 {
    call(|| RESULTS.remove(result).map(|_| TRUNKLINE_OK))
}

/// Frees a result, and lets the session have its memory for the next one.
#[unsafe(no_mangle)]
pub extern "C" fn trunkline_result_recycle(result: u64, session: u64) -> i32 {
    call(|| {
        let result = RESULTS.remove(result)?;
        SESSIONS
            .with(session, |session| {
                session.recycle(result);
                Ok(())
            })
            .map(|()| TRUNKLINE_OK)
    })
}

/// Something of a result, written to `out`.
fn tell<T>(result: u64, out: *mut T, of: impl FnOnce(&mut ResultSet) -> Result<T, Status>) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let mut out = unsafe { Out::new(out) }?;
        out.put(RESULTS.with(result, of)?);
        Ok(TRUNKLINE_OK)
    })
}

/// How many rows it has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_result_rows(result: u64, rows: *mut u64) -> i32 {
    tell(result, rows, |result| Ok(result.len() as u64))
}

/// How many columns its rows have: as described, else as the first row has them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_result_columns(result: u64, columns: *mut u32) -> i32 {
    tell(result, columns, |result| Ok(result.width() as u32))
}

/// How many commands have ended in it: of a batch, its items; of anything else, 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_result_items(result: u64, items: *mut u64) -> i32 {
    tell(result, items, |result| Ok(result.items() as u64))
}

/// A command's tag, such as INSERT 0 1; empty for a text without a command. `item` is 0 but in a batch.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_result_tag(result: u64, item: u64, tag: *mut Bytes) -> i32 {
    tell(result, tag, |result| result.tag(item).map(Bytes::of).ok_or(Status(TRUNKLINE_NO_SUCH)))
}

/// How many rows a command has changed or returned, by its tag; 0 where that says no number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_result_affected(result: u64, item: u64, affected: *mut u64) -> i32 {
    tell(result, affected, |result| {
        result.tag(item).ok_or(Status(TRUNKLINE_NO_SUCH))?;
        Ok(result.affected(item).unwrap_or(0))
    })
}

/// Which rows are an item's: the first, and how many.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_result_item_rows(
    result: u64,
    item: u64,
    first: *mut u64,
    count: *mut u64,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let (mut first_out, mut count_out) = unsafe { (Out::new(first)?, Out::new(count)?) };
        let found = RESULTS.with(result, |result| result.rows_of(item).ok_or(Status(TRUNKLINE_NO_SUCH)))?;
        first_out.put(found.0);
        count_out.put(found.1);
        Ok(TRUNKLINE_OK)
    })
}

/// A column, where they were described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_result_column(result: u64, index: u32, column: *mut ColumnInfo) -> i32 {
    tell(result, column, |result| {
        let found = result.columns.as_ref().and_then(|columns| columns.get(index as usize));
        let (column, name) = found.ok_or(Status(TRUNKLINE_NO_SUCH))?;
        Ok(ColumnInfo {
            name: Bytes::of(name),
            type_oid: column.type_oid,
            table: column.table,
            type_modifier: column.type_modifier,
            attribute: column.attribute,
            type_size: column.type_size,
            format: column.format.0.into(),
        })
    })
}

/// The index of the first column of a name; TRUNKLINE_NO_SUCH where there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_result_column_index(result: u64, name: Bytes, index: *mut u32) -> i32 {
    // SAFETY: the caller's promise.
    let name = unsafe { name.get() };
    tell(result, index, |result| {
        let name = name?;
        let found = result.columns.as_ref().and_then(|columns| columns.find(name));
        found.map(|index| index as u32).ok_or(Status(TRUNKLINE_NO_SUCH))
    })
}

/// How many parameters a statement that was described has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_result_parameters(result: u64, parameters: *mut u32) -> i32 {
    tell(result, parameters, |result| Ok(result.parameters.len() as u32))
}

/// The object id of a parameter's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_result_parameter_type(result: u64, index: u32, type_oid: *mut u32) -> i32 {
    tell(result, type_oid, |result| {
        result.parameters.get(index as usize).copied().ok_or(Status(TRUNKLINE_NO_SUCH))
    })
}

/// A value as it came; TRUNKLINE_NULL when it is NULL, whose length is -1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_result_value(
    result: u64,
    row: u64,
    column: u32,
    value: *mut Value,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let mut out = unsafe { Out::new(value) }?;
        RESULTS.with(result, |result| {
            let format = result.format(column).0.into();
            let found = result.value(row, column)?;
            out.put(raw(found, format));
            Ok(if found.is_some() { TRUNKLINE_OK } else { TRUNKLINE_NULL })
        })
    })
}

/// A value as C has it.
#[inline]
pub(crate) fn raw(value: Option<&[u8]>, format: i32) -> Value {
    match value {
        // No message is longer than 2 GiB.
        Some(value) => Value { data: value.as_ptr(), length: value.len() as i32, format },
        None => Value { data: std::ptr::null(), length: -1, format },
    }
}

/// A value of a type.
#[inline]
fn get<T>(
    result: u64,
    row: u64,
    column: u32,
    value: *mut T,
    decode: impl FnOnce(&[u8], trunkline_wire::Format, Option<u32>) -> Result<T, Status>,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let mut out = unsafe { Out::new(value) }?;
        RESULTS.with(result, |result| {
            let (format, type_oid) = (result.format(column), result.type_of(column));
            let Some(found) = result.value(row, column)? else { return Ok(TRUNKLINE_NULL) };
            out.put(decode(found, format, type_oid)?);
            Ok(TRUNKLINE_OK)
        })
    })
}

/// A boolean: 0 or 1. Of NULL `value` stays as it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_result_bool(result: u64, row: u64, column: u32, value: *mut u8) -> i32 {
    get(result, row, column, value, |found, format, oid| typed::boolean(found, format, oid).map(u8::from))
}

/// An integer of any width that fits 32 bits. Of NULL `value` stays as it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_result_i32(result: u64, row: u64, column: u32, value: *mut i32) -> i32 {
    get(result, row, column, value, |found, format, oid| {
        let wide = typed::integer(found, format, oid)?;
        i32::try_from(wide).map_err(|_| Status(crate::status::TRUNKLINE_TYPE))
    })
}

/// An integer of any width. Of NULL `value` stays as it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_result_i64(result: u64, row: u64, column: u32, value: *mut i64) -> i32 {
    get(result, row, column, value, typed::integer)
}

/// A floating-point number of either width. Of NULL `value` stays as it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_result_f64(result: u64, row: u64, column: u32, value: *mut f64) -> i32 {
    get(result, row, column, value, typed::float)
}

/// A value's bytes: of a text its characters, which no zero byte ends. Of NULL `value` stays as it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_result_bytes(
    result: u64,
    row: u64,
    column: u32,
    value: *mut Bytes,
) -> i32 {
    get(result, row, column, value, |found, _, _| Ok(Bytes::of(found)))
}

/// A field of an error or a notice, by its letter (manual, "Error and Notice Message Fields"): 'C' is the SQLSTATE, 'M' the
/// message, 'D' the detail, 'H' the hint, 'P' the position. TRUNKLINE_NONE when there is none: an error of this library has
/// a message only, and 'F' says what became of what was asked, where the connection broke: "not run", "may have run" or
/// "failed".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_result_field(result: u64, letter: u8, text: *mut Bytes) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let mut out = unsafe { Out::new(text) }?;
        RESULTS.with(result, |result| match result.field(letter) {
            Some(text) => {
                out.put(Bytes::of(text));
                Ok(TRUNKLINE_OK)
            }
            None => Ok(TRUNKLINE_NONE),
        })
    })
}

/// A NOTIFY: who notified, the channel, and what was said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_result_notification(
    result: u64,
    process_id: *mut i32,
    channel: *mut Bytes,
    payload: *mut Bytes,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let (mut process, mut named, mut said) =
            unsafe { (Out::new(process_id)?, Out::new(channel)?, Out::new(payload)?) };
        RESULTS.with(result, |result| {
            let Some(found) = &result.notification else { return Ok(TRUNKLINE_NONE) };
            process.put(found.process_id);
            named.put(Bytes::of(&found.channel));
            said.put(Bytes::of(&found.payload));
            Ok(TRUNKLINE_OK)
        })
    })
}

/// Copied data, of TRUNKLINE_EVENT_COPY_DATA.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_result_copied(result: u64, data: *mut Bytes) -> i32 {
    tell(result, data, |result| Ok(Bytes::of(&result.bytes)))
}
