//! Messages into a session's buffer. Each function appends one, or nothing where it fails.

use std::sync::Arc;

use trunkline_session::frontend::connection::BindTemplate;
use trunkline_wire::Format;
use trunkline_wire::frontend::Target;

use crate::boundary::{Bytes, Out, call, slice};
use crate::objects::{SESSIONS, TEMPLATES};
use crate::session::Template;
use crate::status::{Status, TRUNKLINE_BAD_ARGUMENT, TRUNKLINE_OK, TRUNKLINE_UNENCODABLE};

/// A value: a parameter's, or a column's.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Value {
    /// The first byte; of NULL anything.
    pub data: *const u8,
    /// How many bytes; -1 is NULL.
    pub length: i32,
    /// 0: text. 1: binary.
    pub format: i32,
}

impl Value {
    /// The bytes; `None` is NULL.
    ///
    /// # Errors
    /// `TRUNKLINE_BAD_ARGUMENT` for a length below -1, or a null pointer to something.
    ///
    /// # Safety
    /// `data` is null or has `length` bytes that nobody changes while the result is used.
    #[inline]
    pub unsafe fn get<'a>(self) -> Result<Option<&'a [u8]>, Status> {
        match usize::try_from(self.length) {
            // SAFETY: the caller's.
            Ok(length) => unsafe { slice(self.data, length) }.map(Some),
            Err(_) if self.length == -1 => Ok(None),
            Err(_) => Err(Status(TRUNKLINE_BAD_ARGUMENT)),
        }
    }
}

/// The formats of values, and the values; `None` is NULL.
pub type Lent<'a> = (Vec<Format>, Vec<Option<&'a [u8]>>);

/// Values in memory that C lends, and the format of each.
///
/// # Safety
/// The caller's promise, for the array and for each value.
pub unsafe fn values<'a>(values: *const Value, count: usize) -> Result<Lent<'a>, Status> {
    // SAFETY: the caller's promise.
    let values = unsafe { slice(values, count) }?;
    let mut formats = Vec::with_capacity(values.len());
    let mut found = Vec::with_capacity(values.len());
    for value in values {
        formats.push(format(value.format)?);
        // SAFETY: the caller's promise.
        found.push(unsafe { value.get() }?);
    }
    Ok((formats, found))
}

/// 0 or 1.
///
/// # Errors
/// `TRUNKLINE_BAD_ARGUMENT` for others.
pub fn format(number: i32) -> Result<Format, Status> {
    match number {
        0 => Ok(Format::TEXT),
        1 => Ok(Format::BINARY),
        _ => Err(Status(TRUNKLINE_BAD_ARGUMENT)),
    }
}

fn target(letter: u8) -> Result<Target, Status> {
    match letter {
        b'S' => Ok(Target::Statement),
        b'P' => Ok(Target::Portal),
        _ => Err(Status(TRUNKLINE_BAD_ARGUMENT)),
    }
}

/// A simple query: any number of commands, a whole turn. Each gives a result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_encode_query(session: u64, text: Bytes) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let text = unsafe { text.get() }?;
        SESSIONS.with(session, |session| session.query(text)).map(|()| TRUNKLINE_OK)
    })
}

/// A Parse: prepares a statement; an empty name is the unnamed one. `types` has the object ids of the first `types_count`
/// parameters' types, 0 where the server is to find it out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_encode_parse(
    session: u64,
    name: Bytes,
    text: Bytes,
    types: *const u32,
    types_count: usize,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let (name, text, types) = unsafe { (name.get()?, text.get()?, slice(types, types_count)?) };
        SESSIONS
            .with(session, |session| session.plain(|pipeline| pipeline.parse(name, text, types)))
            .map(|()| TRUNKLINE_OK)
    })
}

/// A Bind: a portal of a statement and its parameters' values, each with its format. All columns of the result will be of
/// `result_format`: 0 text, 1 binary.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_encode_bind(
    session: u64,
    portal: Bytes,
    statement: Bytes,
    parameters: *const Value,
    parameters_count: usize,
    result_format: i32,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let (portal, statement) = unsafe { (portal.get()?, statement.get()?) };
        // SAFETY: the caller's promise.
        let (formats, found) = unsafe { values(parameters, parameters_count) }?;
        let result = [format(result_format)?];
        SESSIONS
            .with(session, |session| {
                session.plain(|pipeline| pipeline.bind(portal, statement, &formats, &found, &result))
            })
            .map(|()| TRUNKLINE_OK)
    })
}

/// A Describe of a statement (`what` is 'S'), or of a portal ('P'). That of a portal just before its Execute gives that
/// result its columns; any other is an event of its own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_encode_describe(session: u64, what: u8, name: Bytes) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let name = unsafe { name.get() }?;
        let target = target(what)?;
        SESSIONS.with(session, |session| session.describe(target, name)).map(|()| TRUNKLINE_OK)
    })
}

/// An Execute of a portal: at most `max_rows` rows, 0 for all. `result_format` as in its Bind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_encode_execute(
    session: u64,
    portal: Bytes,
    max_rows: i32,
    result_format: i32,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let portal = unsafe { portal.get() }?;
        let binary = format(result_format)? == Format::BINARY;
        SESSIONS.with(session, |session| session.execute(portal, max_rows, binary)).map(|()| TRUNKLINE_OK)
    })
}

/// A Close of a statement (`what` is 'S') or of a portal ('P').
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_encode_close(session: u64, what: u8, name: Bytes) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let name = unsafe { name.get() }?;
        let target = target(what)?;
        SESSIONS
            .with(session, |session| session.plain(|pipeline| pipeline.close(target, name)))
            .map(|()| TRUNKLINE_OK)
    })
}

/// A Sync: ends the turn.
#[unsafe(no_mangle)]
pub extern "C" fn trunkline_encode_sync(session: u64) -> i32 {
    call(|| SESSIONS.with(session, crate::session::Session::sync).map(|()| TRUNKLINE_OK))
}

/// A Flush: asks for the answers so far.
#[unsafe(no_mangle)]
pub extern "C" fn trunkline_encode_flush(session: u64) -> i32 {
    plain(session, |pipeline| {
        pipeline.flush();
        Ok(())
    })
}

/// Copied data, after TRUNKLINE_EVENT_COPY_IN.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_encode_copy_data(session: u64, data: Bytes) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let data = unsafe { data.get() }?;
        SESSIONS
            .with(session, |session| session.plain(|pipeline| pipeline.copy_data(data)))
            .map(|()| TRUNKLINE_OK)
    })
}

/// The end of copied data. In the extended protocol a Sync must follow.
#[unsafe(no_mangle)]
pub extern "C" fn trunkline_encode_copy_done(session: u64) -> i32 {
    plain(session, |pipeline| {
        pipeline.copy_done();
        Ok(())
    })
}

/// Gives copied data up, for a reason that the server's error will quote. In the extended protocol a Sync must follow.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_encode_copy_fail(session: u64, reason: Bytes) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let reason = unsafe { reason.get() }?;
        SESSIONS
            .with(session, |session| session.plain(|pipeline| pipeline.copy_fail(reason)))
            .map(|()| TRUNKLINE_OK)
    })
}

/// Declines copied data that the server waits for, after TRUNKLINE_EVENT_COPY_IN that was not meant. Its turn ends with an
/// error of the server, which quotes the reason.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_encode_copy_refuse(session: u64, reason: Bytes) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let reason = unsafe { reason.get() }?;
        SESSIONS.with(session, |session| session.refuse_copy_in(reason)).map(|()| TRUNKLINE_OK)
    })
}

/// Says good-bye; nothing may follow.
#[unsafe(no_mangle)]
pub extern "C" fn trunkline_encode_terminate(session: u64) -> i32 {
    plain(session, |pipeline| {
        pipeline.terminate();
        Ok(())
    })
}

fn plain(
    session: u64,
    write: impl FnOnce(
        &mut trunkline_session::frontend::Pipeline,
    ) -> Result<(), trunkline_session::frontend::connection::EncodeError>,
) -> i32 {
    call(|| SESSIONS.with(session, |session| session.plain(write)).map(|()| TRUNKLINE_OK))
}

/// Makes a template: what the Bind and Execute messages of a prepared statement have in common. `formats` has the format
/// of each of `parameters` parameters; null: all are binary. All columns of results will be of `result_format`.
///
/// A template is of no session and may be used in any, from any thread, one call at a time. Free it with
/// trunkline_template_free; sessions keep what they need.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_template_new(
    statement: Bytes,
    formats: *const i32,
    parameters: usize,
    result_format: i32,
    template: *mut u64,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let (statement, mut out) = unsafe { (statement.get()?, Out::new(template)?) };
        let parameter_formats = if formats.is_null() {
            vec![Format::BINARY]
        } else {
            // SAFETY: the caller's promise.
            let formats = unsafe { slice(formats, parameters) }?;
            formats.iter().map(|number| format(*number)).collect::<Result<_, _>>()?
        };
        let result = format(result_format)?;
        let bind = BindTemplate::new(statement, &parameter_formats, parameters, &[result])
            .map_err(|_| Status(TRUNKLINE_UNENCODABLE))?;
        let template = Template { bind, binary: result == Format::BINARY };
        out.put(TEMPLATES.insert(Arc::new(template))?);
        Ok(TRUNKLINE_OK)
    })
}

/// Frees a template.
#[unsafe(no_mangle)]
pub extern "C" fn trunkline_template_free(template: u64) -> i32 {
    call(|| TEMPLATES.remove(template).map(|_| TRUNKLINE_OK))
}

/// Items of a batch: for each a Bind and an Execute. `values` has `count` values for each of `items` items, one item after
/// the other; their formats are the template's, and `format` of each is not looked at. `encoded` (may be null) is told
/// how many items were written: fewer than `items` where the call fails.
///
/// Items in a row have one result. Items of one turn are one transaction, unless one is open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_encode_items(
    session: u64,
    template: u64,
    values: *const Value,
    count: usize,
    items: usize,
    encoded: *mut usize,
) -> i32 {
    call(|| {
        let total = count.checked_mul(items).ok_or(Status(TRUNKLINE_BAD_ARGUMENT))?;
        // SAFETY: the caller's promise.
        let all = unsafe { slice(values, total) }?;
        let template = TEMPLATES.with(template, |template| Ok(Arc::clone(template)))?;
        let mut written = 0;
        let outcome = SESSIONS.with(session, |session| {
            for item in 0..items {
                let values = all.get(item * count..(item + 1) * count).unwrap_or_default();
                let mut bad = None;
                let found = values.iter().map_while(|value| {
                    // SAFETY: the caller's promise.
                    unsafe { value.get() }.map_err(|status| bad = Some(status)).ok()
                });
                let outcome = session.item(&template, found);
                if let Some(status) = bad {
                    return Err(status);
                }
                outcome?;
                written += 1;
            }
            Ok(())
        });
        if !encoded.is_null() {
            // SAFETY: the caller's promise.
            unsafe { Out::new(encoded) }?.put(written);
        }
        outcome.map(|()| TRUNKLINE_OK)
    })
}
