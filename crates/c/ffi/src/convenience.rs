//! Whole queries: encoded, sent, and read to their end.

use std::sync::Arc;

use trunkline_codec::api::encode::{Value, format, values};
use trunkline_codec::boundary::{Bytes, Out, call, slice};
use trunkline_codec::objects::{RESULTS, SESSIONS, TEMPLATES};
use trunkline_codec::result::ResultSet;
use trunkline_codec::session::{
    Happened, Session, TRUNKLINE_EVENT_DESCRIBED, TRUNKLINE_EVENT_ERROR, TRUNKLINE_MORE, Template,
};
use trunkline_codec::status::{
    Status, TRUNKLINE_BAD_ARGUMENT, TRUNKLINE_MISUSE, TRUNKLINE_OK, TRUNKLINE_UNENCODABLE,
};
use trunkline_wire::Format;
use trunkline_wire::frontend::Target;

use crate::connection::on_line;
use crate::failure::{ErrorOut, Failure};
use crate::line::{Line, ends};

/// Bytes that are encoded before they are sent: the server begins while the rest is encoded.
const PIECE_BYTES: usize = 64 << 10;

/// What a call leaves for C: a result, which it owns.
fn put(out: &mut Out<u64>, result: Option<ResultSet>) -> Result<i32, Failure> {
    out.put(RESULTS.insert(result.unwrap_or_default())?);
    Ok(TRUNKLINE_OK)
}

/// Writes a turn, ends it and reads it to its end. Where a part of it does not fit a message, the turn is ended all the same.
fn turn(
    session: &mut Session,
    line: &mut Line,
    write: impl FnOnce(&mut Session) -> Result<(), Status>,
    mut on: impl FnMut(i32, ResultSet) -> Result<(), Failure>,
) -> Result<(), Failure> {
    begin(session, line)?;
    let written = write(session).map_err(|status| written_failure(session, status));
    if session.turn_is_open() {
        session.sync()?;
    }
    let finished = line.finish(session, |happened| match happened.result {
        Some(result) => on(happened.kind, result),
        None => Ok(()),
    });
    written?;
    finished
}

/// A message that does not fit says why.
fn written_failure(session: &Session, status: Status) -> Failure {
    match status {
        Status(TRUNKLINE_UNENCODABLE) => Failure::message(status, &session.message),
        _ => status.into(),
    }
}

/// A turn of its own begins: nothing of an earlier one is left, and what came unasked after it is kept aside.
pub(crate) fn begin(session: &mut Session, line: &mut Line) -> Result<(), Failure> {
    if session.connection().is_over() {
        return Err(Status(trunkline_codec::status::TRUNKLINE_CLOSED).into());
    }
    if line.next(session)?.is_some() || !session.is_idle() {
        let message = "what was asked before was not read to its end";
        return Err(Failure::message(Status(TRUNKLINE_MISUSE), message));
    }
    Ok(())
}

/// Runs a query in one round trip, with its parameters each in its format, and waits for all of its result, which the caller
/// frees. Its columns are described; all are of `result_format`: 0 text, 1 binary.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_query(
    session: u64,
    text: Bytes,
    parameters: *const Value,
    parameters_count: usize,
    result_format: i32,
    result: *mut u64,
    error: *mut u64,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let (text, mut out, error) = unsafe { (text.get()?, Out::new(result)?, ErrorOut::new(error)?) };
        // SAFETY: the caller's promise.
        let (formats, found) = unsafe { values(parameters, parameters_count) }?;
        let result_format = format(result_format)?;
        error.end(on_line(session, |session, line| {
            let mut kept = None;
            let write = |session: &mut Session| {
                session.plain(|pipeline| pipeline.parse(b"", text, &[]))?;
                session.plain(|pipeline| pipeline.bind(b"", b"", &formats, &found, &[result_format]))?;
                session.describe(Target::Portal, b"")?;
                session.execute(b"", 0, result_format == Format::BINARY)
            };
            turn(session, line, write, |_, result| {
                kept = Some(result);
                Ok(())
            })?;
            put(&mut out, kept)
        }))
    })
}

/// Runs any number of commands, separated by semicolons, for their effect.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_run(session: u64, text: Bytes, error: *mut u64) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let (text, error) = unsafe { (text.get()?, ErrorOut::new(error)?) };
        error.end(on_line(session, |session, line| {
            turn(session, line, |session| session.query(text), |_, _| Ok(()))?;
            Ok(TRUNKLINE_OK)
        }))
    })
}

/// Prepares a statement under a name, and tells what it is: `described` (may be null) gets a result with its parameters' types
/// and its columns and no rows, which the caller frees. `types` as for trunkline_encode_parse.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_prepare(
    session: u64,
    name: Bytes,
    text: Bytes,
    types: *const u32,
    types_count: usize,
    described: *mut u64,
    error: *mut u64,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let (name, text, types) = unsafe { (name.get()?, text.get()?, slice(types, types_count)?) };
        // SAFETY: the caller's promise.
        let error = unsafe { ErrorOut::new(error) }?;
        let mut out = if described.is_null() {
            None
        } else {
            // SAFETY: the caller's promise.
            Some(unsafe { Out::new(described) }?)
        };
        error.end(on_line(session, |session, line| {
            let mut kept = None;
            let write = |session: &mut Session| {
                session.plain(|pipeline| pipeline.parse(name, text, types))?;
                session.describe(Target::Statement, name)
            };
            turn(session, line, write, |kind, result| {
                if kind == TRUNKLINE_EVENT_DESCRIBED {
                    kept = Some(result);
                }
                Ok(())
            })?;
            match &mut out {
                Some(out) => put(out, kept),
                None => Ok(TRUNKLINE_OK),
            }
        }))
    })
}

/// Runs a prepared statement once, by its template, and waits for all of its result, which the caller frees.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_execute(
    session: u64,
    template: u64,
    parameters: *const Value,
    parameters_count: usize,
    result: *mut u64,
    error: *mut u64,
) -> i32 {
    // SAFETY: the caller's promise.
    unsafe {
        trunkline_batch(
            session,
            template,
            parameters,
            parameters_count,
            1,
            0,
            result,
            std::ptr::null_mut(),
            error,
        )
    }
}

/// Runs a prepared statement with many sets of parameters, `count` values for each of `items` items, and waits for all of
/// their results, which are one: trunkline_result_item_rows says which rows are whose. Encoding, sending and reading overlap, so
/// that no server is kept waiting for its answers to be read.
///
/// `items_per_sync`: every so many items are a transaction of their own; 0: all are one. `failed_item` (may be null) is told which item
/// failed.
// tidy: long because C has no other way to name what is optional
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn trunkline_batch(
    session: u64,
    template: u64,
    parameters: *const Value,
    count: usize,
    items: usize,
    items_per_sync: usize,
    result: *mut u64,
    failed_item: *mut u64,
    error: *mut u64,
) -> i32 {
    call(|| {
        let total = count.checked_mul(items).ok_or(Status(TRUNKLINE_BAD_ARGUMENT))?;
        // SAFETY: the caller's promise.
        let (all, mut out) = unsafe { (slice(parameters, total)?, Out::new(result)?) };
        // SAFETY: the caller's promise.
        let error = unsafe { ErrorOut::new(error) }?;
        let template = TEMPLATES.with(template, |template| Ok(Arc::clone(template)))?;
        let mut batch = Batch::default();
        let outcome = SESSIONS.with(session, |session| {
            Ok(crate::line::with_line(session, |session, line| {
                begin(session, line)?;
                let mut written = Ok(());
                for item in 0..items {
                    let values = all.get(item * count..(item + 1) * count).unwrap_or_default();
                    // SAFETY: the caller's promise.
                    written = unsafe { batch.push(session, &template, values) };
                    if written.is_err() || batch.failed.is_some() {
                        break;
                    }
                    if items_per_sync > 0 && (item + 1) % items_per_sync == 0 {
                        session.sync()?;
                    }
                    if session.unsent().len() >= PIECE_BYTES {
                        batch.send(session, line)?;
                    }
                }
                batch.finish(session, line, written)
            }))
        })?;
        if let Err(failure) = &outcome
            && !failed_item.is_null()
        {
            // SAFETY: the caller's promise.
            unsafe { Out::new(failed_item) }?.put(failure.item);
        }
        error.end(outcome.and_then(|result| put(&mut out, result)))
    })
}

/// A batch under way.
#[derive(Default)]
struct Batch {
    answers: Option<ResultSet>,
    /// Items in `answers` whose Sync has come, or that have a part of their own otherwise.
    answered: u64,
    /// Further items in `answers`, which a failed item's number counts from.
    in_pieces: u64,
    failed: Option<Failure>,
}

impl Batch {
    /// # Safety
    /// The caller's promise, for each value.
    unsafe fn push(
        &mut self,
        session: &mut Session,
        template: &Arc<Template>,
        values: &[Value],
    ) -> Result<(), Failure> {
        let mut bad = None;
        let found = values.iter().map_while(|value| {
            // SAFETY: the caller's promise.
            unsafe { value.get() }.map_err(|status| bad = Some(status)).ok()
        });
        let written = session.item(template, found);
        match bad {
            Some(status) => Err(status.into()),
            None => written.map_err(|status| written_failure(session, status)),
        }
    }

    /// Sends what is encoded, reading where the server takes no more.
    fn send(&mut self, session: &mut Session, line: &mut Line) -> Result<(), Failure> {
        while line.send(session)? {
            line.exchange(session, None)?;
            while let Some(happened) = line.next(session)? {
                self.take(happened)?;
            }
        }
        Ok(())
    }

    fn take(&mut self, happened: Happened) -> Result<(), Failure> {
        let Happened { kind, flags, number, result } = happened;
        let Some(result) = result else { return Ok(()) };
        if kind == TRUNKLINE_EVENT_ERROR {
            let item = self.answered + number;
            let failure = Failure {
                status: Status(trunkline_codec::status::TRUNKLINE_SERVER),
                error: Some(Box::new(result)),
                item,
            };
            self.failed.get_or_insert(failure);
            return Ok(());
        }
        self.in_pieces += result.items() as u64;
        if flags & TRUNKLINE_MORE == 0 {
            self.answered += std::mem::take(&mut self.in_pieces);
        }
        match &mut self.answers {
            Some(answers) => answers.append(&result)?,
            None => self.answers = Some(result),
        }
        Ok(())
    }

    fn finish(
        mut self,
        session: &mut Session,
        line: &mut Line,
        written: Result<(), Failure>,
    ) -> Result<Option<ResultSet>, Failure> {
        if session.turn_is_open() {
            session.sync()?;
        }
        let mut taken = Ok(());
        let finished = line.finish(session, |happened| {
            if taken.is_ok() {
                taken = self.take(happened);
            }
            Ok(())
        });
        if let Err(mut failure) = finished {
            if ends(failure.status) {
                return Err(failure);
            }
            failure.item += self.answered;
            self.failed.get_or_insert(failure);
        }
        written?;
        taken?;
        self.failed.map_or(Ok(self.answers), Err)
    }
}
