//! Sessions: bytes out, bytes in, events.

use trunkline_session::frontend::connection::{ConnectionLimits, Fate};
use trunkline_session::frontend::{Connection, ServerReady};
use trunkline_wire::backend::TransactionStatus;
use trunkline_wire::startup::ProtocolVersion;

use crate::boundary::{Bytes, Out, call};
use crate::objects::{LOGINS, RESULTS, SESSIONS};
use crate::session::{Happened, Session};
use crate::status::{
    Status, TRUNKLINE_BAD_ARGUMENT, TRUNKLINE_MISUSE, TRUNKLINE_NONE, TRUNKLINE_NULL, TRUNKLINE_OK,
};

/// Something that the server said.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SessionEvent {
    /// One of TRUNKLINE_EVENT_...
    pub kind: i32,
    /// TRUNKLINE_MORE: more of this result will come. TRUNKLINE_SUSPENDED: the portal may have more rows.
    pub flags: i32,
    /// Of READY: turns that are over. Of ERROR: the index of the batch's item that failed. Of COPY_IN and COPY_OUT: the
    /// format, 0 text, 1 binary.
    pub number: u64,
    /// What came, 0 where nothing did; the caller's, to be freed by trunkline_result_free.
    pub result: u64,
}

impl SessionEvent {
    /// The event, its result as a handle.
    ///
    /// # Errors
    /// `TRUNKLINE_LIMIT` when there are too many results.
    pub fn of(happened: Happened) -> Result<Self, Status> {
        let Happened { kind, flags, number, result } = happened;
        let result = result.map_or(Ok(0), |result| RESULTS.insert(result))?;
        Ok(Self { kind, flags, number, result })
    }
}

/// Makes a session of a connection that the caller has logged in by itself: ReadyForQuery has come, and nothing after it.
/// Free it with trunkline_session_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_new(session: *mut u64) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let mut out = unsafe { Out::new(session) }?;
        let ready = ServerReady {
            parameters: Vec::new(),
            process_id: 0,
            secret_key: Vec::new(),
            status: TransactionStatus::Idle,
            version: ProtocolVersion::V3_0,
            scram_keys: None,
            channel_bound: false,
        };
        let connection = Connection::new(Box::new(ready), ConnectionLimits::default());
        out.put(SESSIONS.insert(Session::new(connection))?);
        Ok(TRUNKLINE_OK)
    })
}

/// Makes a session of a login that is done; the login can only be freed then. A message of the server that is longer than
/// `message_bytes_max` ends the session; 0 is the protocol's own bound, 1 GiB. Free it with trunkline_session_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_of_login(
    login: u64,
    message_bytes_max: u32,
    session: *mut u64,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let mut out = unsafe { Out::new(session) }?;
        let (ready, input) = LOGINS.with(login, |login| {
            let ready = login.ready.take().ok_or(Status(TRUNKLINE_MISUSE))?;
            Ok((ready, std::mem::take(&mut login.input)))
        })?;
        let mut made = Session::of_ready(ready, Some(message_bytes_max).filter(|bytes| *bytes > 0));
        // What it makes of these is told with the next event.
        let fed = made.feed(&input);
        out.put(SESSIONS.insert(made)?);
        fed.map(|()| TRUNKLINE_OK)
    })
}

/// Frees a session: also closes the connection of one that has any. Its results stay.
#[unsafe(no_mangle)]
pub extern "C" fn trunkline_session_free(session: u64) -> i32 {
    call(|| SESSIONS.remove(session).map(|_| TRUNKLINE_OK))
}

/// From how many bytes on a result is handed out in pieces, the last of which lacks TRUNKLINE_MORE. As it is at first, from
/// 1 GiB.
#[unsafe(no_mangle)]
pub extern "C" fn trunkline_session_piece_bytes(session: u64, bytes: usize) -> i32 {
    call(|| {
        SESSIONS
            .with(session, |session| {
                session.set_piece_bytes(bytes);
                Ok(())
            })
            .map(|()| TRUNKLINE_OK)
    })
}

/// The bytes that wait to be sent. Valid until the next call with the session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_unsent(session: u64, bytes: *mut Bytes) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let mut out = unsafe { Out::new(bytes) }?;
        SESSIONS.with(session, |session| {
            out.put(Bytes::of(session.unsent()));
            Ok(TRUNKLINE_OK)
        })
    })
}

/// Says that this many bytes of trunkline_session_unsent were sent.
#[unsafe(no_mangle)]
pub extern "C" fn trunkline_session_sent(session: u64, bytes: usize) -> i32 {
    call(|| {
        SESSIONS.with(session, |session| {
            if bytes > session.unsent().len() {
                return Err(Status(TRUNKLINE_BAD_ARGUMENT));
            }
            session.sent(bytes);
            Ok(TRUNKLINE_OK)
        })
    })
}

/// Gives bytes that were received, in pieces of any size. After an error the events from before it can still be taken.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_feed(session: u64, bytes: Bytes) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let bytes = unsafe { bytes.get() }?;
        SESSIONS.with(session, |session| session.feed(bytes)).map(|()| TRUNKLINE_OK)
    })
}

/// The next thing that the server said; TRUNKLINE_NONE when more bytes are needed. Take all there are before feeding more:
/// what is not taken is kept.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_next(session: u64, event: *mut SessionEvent) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let mut out = unsafe { Out::new(event) }?;
        match SESSIONS.with(session, Session::next_event)? {
            Some(happened) => {
                out.put(SessionEvent::of(happened)?);
                Ok(TRUNKLINE_OK)
            }
            None => Ok(TRUNKLINE_NONE),
        }
    })
}

/// The transaction's state: 'I' outside of any, 'T' in one, 'E' in one that has failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_status(session: u64, status: *mut u8) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let mut out = unsafe { Out::new(status) }?;
        let status = SESSIONS.with(session, |session| Ok(session.status()))?;
        out.put(match status {
            TransactionStatus::Idle => b'I',
            TransactionStatus::InTransaction => b'T',
            TransactionStatus::Failed => b'E',
        });
        Ok(TRUNKLINE_OK)
    })
}

/// 1 when all that was asked is answered, and no event waits to be taken; else 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_is_idle(session: u64, idle: *mut u8) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let mut out = unsafe { Out::new(idle) }?;
        out.put(SESSIONS.with(session, |session| Ok(session.is_idle()))?.into());
        Ok(TRUNKLINE_OK)
    })
}

/// The value that the server last reported for a parameter, such as server_version; TRUNKLINE_NONE where it reported none.
/// Valid until the next call with the session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_parameter(session: u64, name: Bytes, value: *mut Bytes) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let (name, mut out) = unsafe { (name.text()?, Out::new(value)?) };
        SESSIONS.with(session, |session| match session.connection().server().parameter(name) {
            Some(value) => {
                out.put(Bytes::of(value.as_bytes()));
                Ok(TRUNKLINE_OK)
            }
            None => Ok(TRUNKLINE_NONE),
        })
    })
}

/// Writes the packet that, as the first and only one on a connection of its own, asks the server to cancel what this session
/// runs, to `buffer` of `size` bytes, and says how long it is. TRUNKLINE_NONE when the server gave no key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_cancel_request(
    session: u64,
    buffer: *mut u8,
    size: usize,
    length: *mut usize,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let (mut to, mut out) = unsafe { (Out::many(buffer, size)?, Out::new(length)?) };
        let mut request = Vec::new();
        let has_key =
            SESSIONS.with(session, |session| Ok(session.connection().cancel_request(&mut request)))?;
        if !has_key {
            return Ok(TRUNKLINE_NONE);
        }
        if request.len() > size {
            return Err(Status(TRUNKLINE_BAD_ARGUMENT));
        }
        for (index, byte) in request.iter().enumerate() {
            to.put_at(index, *byte);
        }
        out.put(request.len());
        Ok(TRUNKLINE_OK)
    })
}

/// Says that the connection has ended, and asks what became of the turns that wait, in their order: how many there are, and of
/// the first `size` of them 0: not run, no byte of it was sent; 1: may have run; 2: failed, its error had come. `fates` may
/// be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_end(
    session: u64,
    fates: *mut u8,
    size: usize,
    count: *mut usize,
) -> i32 {
    call(|| {
        let size = if fates.is_null() { 0 } else { size };
        // SAFETY: the caller's promise.
        let (mut to, mut out) = unsafe { (Out::many(fates, size)?, Out::new(count)?) };
        let found = SESSIONS.with(session, |session| Ok(session.end()))?;
        for (index, fate) in found.iter().enumerate() {
            to.put_at(index, fate_number(*fate));
        }
        out.put(found.len());
        Ok(TRUNKLINE_OK)
    })
}

/// A fate, as C has it.
#[must_use]
pub fn fate_number(fate: Fate) -> u8 {
    match fate {
        Fate::NotRun => 0,
        Fate::MayHaveRun => 1,
        Fate::Failed => 2,
    }
}

/// Why the last call with the session failed, for people, in UTF-8; TRUNKLINE_NULL when no call has. Valid until the next
/// call with the session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_message(session: u64, message: *mut Bytes) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let mut out = unsafe { Out::new(message) }?;
        SESSIONS.with(session, |session| {
            out.put(Bytes::of(session.message.as_bytes()));
            Ok(if session.message.is_empty() { TRUNKLINE_NULL } else { TRUNKLINE_OK })
        })
    })
}
