//! Connections: sessions with a socket. All functions of layer (a) work with them too.

use std::time::{Duration, Instant};

use trunkline_codec::api::sessions::SessionEvent;
use trunkline_codec::boundary::{Bytes, Out, call};
use trunkline_codec::handles::Table;
use trunkline_codec::objects::{FREE_KIND, SESSIONS};
use trunkline_codec::session::Session;
use trunkline_codec::status::{Status, TRUNKLINE_MISUSE, TRUNKLINE_OK};
use trunkline_driver_blocking::{CancelToken, Config, Login, Wire};

use crate::failure::{ErrorOut, Failure};
use crate::line::{Line, with_line};

/// The connection waits for bytes to come.
pub const TRUNKLINE_WANT_READ: i32 = 1;
/// The connection has bytes that the system did not take.
pub const TRUNKLINE_WANT_WRITE: i32 = 2;

/// What cancels.
pub(crate) static CANCELS: Table<CancelToken> = Table::new(FREE_KIND);

/// Does something with a session that has a connection.
pub(crate) fn on_line<R>(
    session: u64,
    run: impl FnOnce(&mut Session, &mut Line) -> Result<R, Failure>,
) -> Result<R, Failure> {
    SESSIONS.with(session, |session| Ok(with_line(session, run)))?
}

/// A time limit in milliseconds; negative: none.
pub(crate) fn limit(milliseconds: i64) -> Option<Duration> {
    u64::try_from(milliseconds).ok().map(Duration::from_millis)
}

/// Connects and logs in. `settings` is a connection string as libpq's: a URI, or settings and values; what it leaves out comes
/// from the environment, the service file and the password file. Waits until that is done, for connect_timeout at most
/// where it is set.
///
/// The connection is a session: free it with trunkline_session_free, which says good-bye. `error` (may be null) gets an error
/// that the caller must free, 0 where there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_connect(settings: Bytes, session: *mut u64, error: *mut u64) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let (settings, mut out, error) =
            unsafe { (settings.text()?, Out::new(session)?, ErrorOut::new(error)?) };
        let mut connected = || {
            let config = Config::load(settings).map_err(trunkline_driver_blocking::Error::from)?;
            let Login { connection, input, wire } = Wire::connect(&config)?;
            let mut session = Session::new(connection);
            session.carrier = Some(Box::new(Line::new(wire)));
            session.feed(&input)?;
            out.put(SESSIONS.insert(session)?);
            Ok(TRUNKLINE_OK)
        };
        error.end(connected())
    })
}

/// The connection's socket, to wait for what trunkline_connection_advance says. Nothing else may be done with it.
#[cfg(unix)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_connection_fd(session: u64, fd: *mut i32) -> i32 {
    call(|| {
        use std::os::fd::AsRawFd;
        // SAFETY: the caller's promise.
        let mut out = unsafe { Out::new(fd) }?;
        let fd =
            on_line(session, |_, line| Ok(line.wire.fd().as_raw_fd())).map_err(|failure| failure.status)?;
        out.put(fd);
        Ok(TRUNKLINE_OK)
    })
}

/// Sends and receives what can be without waiting, and says what to wait for at the socket before the next such call:
/// TRUNKLINE_WANT_READ, and TRUNKLINE_WANT_WRITE where the system did not take everything. Take the events by
/// trunkline_session_next after each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_connection_advance(session: u64, want: *mut i32, error: *mut u64) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let (mut out, error) = unsafe { (Out::new(want)?, ErrorOut::new(error)?) };
        error.end(on_line(session, |session, line| {
            let left = line.send(session)?;
            line.receive_now(session)?;
            out.put(TRUNKLINE_WANT_READ | if left { TRUNKLINE_WANT_WRITE } else { 0 });
            Ok(TRUNKLINE_OK)
        }))
    })
}

/// Sends what was encoded, and waits for the next event; at most for `milliseconds`, without end where that is negative.
/// Notices and notifications are kept aside: trunkline_notice, trunkline_notification.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_connection_wait(
    session: u64,
    milliseconds: i64,
    event: *mut SessionEvent,
    error: *mut u64,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let (mut out, error) = unsafe { (Out::new(event)?, ErrorOut::new(error)?) };
        error.end(on_line(session, |session, line| {
            let deadline = limit(milliseconds).map(|limit| Instant::now() + limit);
            let Some(happened) = line.wait(session, deadline)? else {
                let message = "nothing was asked, so that nothing would come";
                return Err(Failure::message(Status(TRUNKLINE_MISUSE), message));
            };
            out.put(SessionEvent::of(happened)?);
            Ok(TRUNKLINE_OK)
        }))
    })
}

/// How long each query may take from now on; negative: without end. One that takes longer is cancelled: its error is SQLSTATE
/// 57014 of the server, or, when that does not answer within as long again, TRUNKLINE_TIMEOUT, after which the session is
/// over.
#[unsafe(no_mangle)]
pub extern "C" fn trunkline_connection_timeout(session: u64, milliseconds: i64) -> i32 {
    call(|| {
        let set = on_line(session, |_, line| {
            line.timeout = limit(milliseconds);
            Ok(TRUNKLINE_OK)
        });
        set.map_err(|failure| failure.status)
    })
}

/// Makes what cancels what this connection runs: for another thread, also after the connection is gone. Free it with
/// trunkline_cancel_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_connection_cancel(session: u64, cancel: *mut u64) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let mut out = unsafe { Out::new(cancel) }?;
        let token = on_line(session, |_, line| Ok(line.wire.cancel_token()));
        out.put(CANCELS.insert(token.map_err(|failure| failure.status)?)?);
        Ok(TRUNKLINE_OK)
    })
}

/// Asks the server to cancel, and waits until it has heard it. Whether something was cancelled shows in what ran: SQLSTATE
/// 57014.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_cancel(cancel: u64, error: *mut u64) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let error = unsafe { ErrorOut::new(error) }?;
        // The request takes a while: others may use the handle meanwhile.
        let token = CANCELS.with(cancel, |token| Ok(token.clone()))?;
        error.end(token.cancel().map(|()| TRUNKLINE_OK).map_err(Failure::from))
    })
}

/// Frees what trunkline_connection_cancel made.
#[unsafe(no_mangle)]
pub extern "C" fn trunkline_cancel_free(cancel: u64) -> i32 {
    call(|| CANCELS.remove(cancel).map(|_| TRUNKLINE_OK))
}
