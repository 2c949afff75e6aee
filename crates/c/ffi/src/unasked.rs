//! What a server says unasked.

use std::time::Instant;

use trunkline_codec::boundary::{Out, call};
use trunkline_codec::objects::RESULTS;
use trunkline_codec::session::TRUNKLINE_EVENT_READY;
use trunkline_codec::status::{Status, TRUNKLINE_MISUSE, TRUNKLINE_NONE, TRUNKLINE_OK, TRUNKLINE_TIMEOUT};

use crate::connection::{limit, on_line};
use crate::failure::{ErrorOut, Failure};

/// The next notification of a channel that was listened to (trunkline_result_notification reads it; the caller frees it). Waits
/// for one, at most for `milliseconds`, without end where that is negative; TRUNKLINE_NONE when none came. At most 65,536
/// are kept, the latest.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_notification(
    session: u64,
    milliseconds: i64,
    notification: *mut u64,
    error: *mut u64,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let (mut out, error) = unsafe { (Out::new(notification)?, ErrorOut::new(error)?) };
        error.end(on_line(session, |session, line| {
            let deadline = limit(milliseconds).map(|limit| Instant::now() + limit);
            loop {
                match line.next(session)? {
                    Some(happened) if happened.kind != TRUNKLINE_EVENT_READY => {
                        let message = "something else was asked and not read to its end";
                        return Err(Failure::message(Status(TRUNKLINE_MISUSE), message));
                    }
                    Some(_) => continue,
                    None => {}
                }
                if let Some(found) = line.notifications.pop_front() {
                    out.put(RESULTS.insert(found)?);
                    return Ok(TRUNKLINE_OK);
                }
                match line.exchange(session, deadline) {
                    Err(failure) if failure.status == Status(TRUNKLINE_TIMEOUT) => return Ok(TRUNKLINE_NONE),
                    outcome => outcome?,
                }
            }
        }))
    })
}

/// The next notice that has come (trunkline_result_field reads it; the caller frees it); TRUNKLINE_NONE when none has. At most
/// 256 are kept, the latest.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_notice(session: u64, notice: *mut u64) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let mut out = unsafe { Out::new(notice) }?;
        let found =
            on_line(session, |_, line| Ok(line.notices.pop_front())).map_err(|failure| failure.status)?;
        let Some(found) = found else { return Ok(TRUNKLINE_NONE) };
        out.put(RESULTS.insert(found)?);
        Ok(TRUNKLINE_OK)
    })
}
