//! COPY, in both directions.

use trunkline_codec::boundary::{Bytes, Out, call};
use trunkline_codec::objects::RESULTS;
use trunkline_codec::session::{
    Session, TRUNKLINE_EVENT_COPY_DATA, TRUNKLINE_EVENT_COPY_IN, TRUNKLINE_EVENT_COPY_OUT,
    TRUNKLINE_EVENT_ERROR, TRUNKLINE_EVENT_READY, TRUNKLINE_EVENT_RESULT,
};
use trunkline_codec::status::{Status, TRUNKLINE_MISUSE, TRUNKLINE_NONE, TRUNKLINE_OK};

use crate::connection::on_line;
use crate::convenience;
use crate::failure::{ErrorOut, Failure};
use crate::line::Line;

/// Copied data is sent when there is this much of it.
const PIECE_BYTES: usize = 64 << 10;

/// Begins a COPY ... FROM STDIN: give the data by trunkline_copy_write, then call trunkline_copy_end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_copy_in(session: u64, text: Bytes, error: *mut u64) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { begin(session, text, TRUNKLINE_EVENT_COPY_IN, error) }
}

/// Begins a COPY ... TO STDOUT: take the data by trunkline_copy_read until that says TRUNKLINE_NONE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_copy_out(session: u64, text: Bytes, error: *mut u64) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { begin(session, text, TRUNKLINE_EVENT_COPY_OUT, error) }
}

/// # Safety
/// The caller's promise.
unsafe fn begin(session: u64, text: Bytes, wanted: i32, error: *mut u64) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let (text, error) = unsafe { (text.get()?, ErrorOut::new(error)?) };
        error.end(on_line(session, |session, line| {
            convenience::begin(session, line)?;
            session.query(text).map_err(|status| Failure::message(status, &session.message))?;
            let mut clock = line.clock();
            let Some(happened) = line.wait_or_cancel(session, &mut clock)? else {
                return Err(Status(TRUNKLINE_MISUSE).into());
            };
            if happened.kind == wanted {
                return Ok(TRUNKLINE_OK);
            }
            if happened.kind == TRUNKLINE_EVENT_COPY_IN {
                session.refuse_copy_in(b"no data is copied in here")?;
            }
            let failed = happened.kind == TRUNKLINE_EVENT_ERROR;
            let failure = if failed {
                Failure::of_event(happened)
            } else {
                Failure::message(Status(TRUNKLINE_MISUSE), "the command is no COPY in that direction")
            };
            let finished = line.finish(session, |_| Ok(()));
            Err(if failed { failure } else { finished.err().unwrap_or(failure) })
        }))
    })
}

/// Gives data to be copied in. It may be sent later; an error of the server shows here or at the end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_copy_write(session: u64, data: Bytes, error: *mut u64) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let (data, error) = unsafe { (data.get()?, ErrorOut::new(error)?) };
        error.end(on_line(session, |session, line| {
            if session.is_idle() {
                let message = "no COPY ... FROM STDIN is under way";
                return Err(Failure::message(Status(TRUNKLINE_MISUSE), message));
            }
            session.plain(|pipeline| pipeline.copy_data(data))?;
            if session.unsent().len() >= PIECE_BYTES {
                flush(session, line)?;
            }
            Ok(TRUNKLINE_OK)
        }))
    })
}

/// Sends all; where the system takes no more, the server may have something to say.
fn flush(session: &mut Session, line: &mut Line) -> Result<(), Failure> {
    while line.send(session)? {
        line.exchange(session, None)?;
    }
    Ok(())
}

/// Ends what was copied in: `reason` empty, it is complete, and `rows` (may be null) is told how many rows that were; else it is
/// given up, and the server's error that follows is not told as one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_copy_end(
    session: u64,
    reason: Bytes,
    rows: *mut u64,
    error: *mut u64,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let (reason, error) = unsafe { (reason.get()?, ErrorOut::new(error)?) };
        error.end(on_line(session, |session, line| {
            if session.is_idle() {
                let message = "no COPY ... FROM STDIN is under way";
                return Err(Failure::message(Status(TRUNKLINE_MISUSE), message));
            }
            let given_up = !reason.is_empty();
            session.plain(|pipeline| {
                if given_up {
                    return pipeline.copy_fail(reason);
                }
                pipeline.copy_done();
                Ok(())
            })?;
            let mut copied = 0;
            let finished = line.finish(session, |happened| {
                let result = happened.result.filter(|_| happened.kind == TRUNKLINE_EVENT_RESULT);
                copied = result.and_then(|result| result.affected(0)).unwrap_or(copied);
                Ok(())
            });
            match finished {
                Err(failure) if given_up && !crate::line::ends(failure.status) => {}
                finished => finished?,
            }
            if !rows.is_null() {
                // SAFETY: the caller's promise.
                unsafe { Out::new(rows) }?.put(copied);
            }
            Ok(TRUNKLINE_OK)
        }))
    })
}

/// The next piece of data that is copied out (trunkline_result_copied reads it; the caller frees it); TRUNKLINE_NONE at the end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_copy_read(session: u64, piece: *mut u64, error: *mut u64) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let (mut out, error) = unsafe { (Out::new(piece)?, ErrorOut::new(error)?) };
        error.end(on_line(session, |session, line| {
            let mut clock = line.clock();
            while let Some(happened) = line.wait_or_cancel(session, &mut clock)? {
                match (happened.kind, happened.result) {
                    (TRUNKLINE_EVENT_COPY_DATA, Some(result)) => {
                        out.put(RESULTS.insert(result)?);
                        return Ok(TRUNKLINE_OK);
                    }
                    (TRUNKLINE_EVENT_ERROR, error) => {
                        let status = Status(trunkline_codec::status::TRUNKLINE_SERVER);
                        line.finish(session, |_| Ok(()))?;
                        return Err(Failure { status, error: error.map(Box::new), item: 0 });
                    }
                    (TRUNKLINE_EVENT_READY, _) => break,
                    _ => {}
                }
            }
            Ok(TRUNKLINE_NONE)
        }))
    })
}
