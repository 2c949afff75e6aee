//! A failed call, and the error that C may ask for.

use trunkline_codec::boundary::Out;
use trunkline_codec::objects::RESULTS;
use trunkline_codec::result::ResultSet;
use trunkline_codec::session::Happened;
use trunkline_codec::status::{
    Status, TRUNKLINE_CONNECT, TRUNKLINE_IO, TRUNKLINE_SERVER, TRUNKLINE_SYNTAX, TRUNKLINE_TIMEOUT,
};
use trunkline_driver_blocking::Error;
use trunkline_parser::{DeparseError, ParseError};

/// The letters of an error's fields (manual, "Error and Notice Message Fields").
const LETTERS: &[u8] = b"SVCDHPpqWstcdnFLR";

/// See the module.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: Status,
    pub(crate) error: Option<Box<ResultSet>>,
    /// Which item of a batch failed.
    pub(crate) item: u64,
}

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        let text = trunkline_codec::status::text(status.0).to_string_lossy();
        Self::message(status, &text)
    }
}

impl Failure {
    pub(crate) fn message(status: Status, message: &str) -> Self {
        Self { status, error: Some(Box::new(ResultSet::of_message(message))), item: 0 }
    }

    /// Of `TRUNKLINE_EVENT_ERROR`.
    pub(crate) fn of_event(happened: Happened) -> Self {
        Self { status: Status(TRUNKLINE_SERVER), error: happened.result.map(Box::new), item: happened.number }
    }

    /// Of the parser.
    pub(crate) fn of_parse(error: &ParseError) -> Self {
        let mut fields = ResultSet::of_message(error.message());
        fields.set_field(b'C', error.sqlstate().as_str());
        for (letter, text) in [(b'D', error.detail()), (b'H', error.hint())] {
            if let Some(text) = text {
                fields.set_field(letter, text);
            }
        }
        // As the server counts: characters, from 1.
        fields.set_field(b'P', &error.cursor().to_string());
        Self { status: Status(TRUNKLINE_SYNTAX), error: Some(Box::new(fields)), item: 0 }
    }

    /// A tree that cannot be written as SQL.
    pub(crate) fn of_deparse(error: &DeparseError) -> Self {
        Self::message(Status(TRUNKLINE_SYNTAX), &error.to_string())
    }
}

/// Of a connection that could not be made, or a cancel request.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let status = match () {
            () if error.is_timeout() => TRUNKLINE_TIMEOUT,
            () if error.is_closed() => TRUNKLINE_IO,
            () => TRUNKLINE_CONNECT,
        };
        let mut fields = ResultSet::of_message(&error.to_string());
        if let Some(server) = error.server() {
            for letter in LETTERS {
                if let Some(text) = server.field(*letter) {
                    fields.set_field(*letter, &text);
                }
            }
        }
        Self { status: Status(status), error: Some(Box::new(fields)), item: 0 }
    }
}

/// Where C wants the error, if it does: 0 is written there at once.
pub(crate) struct ErrorOut(Option<Out<u64>>);

impl ErrorOut {
    /// # Safety
    /// `to` is null, or this may write there until the call ends.
    pub(crate) unsafe fn new(to: *mut u64) -> Result<Self, Status> {
        if to.is_null() {
            return Ok(Self(None));
        }
        // SAFETY: the caller's.
        let mut out = unsafe { Out::new(to) }?;
        out.put(0);
        Ok(Self(Some(out)))
    }

    /// Ends a call: hands the error over.
    pub(crate) fn end(mut self, outcome: Result<i32, Failure>) -> Result<i32, Status> {
        outcome.map_err(|failure| {
            if let (Some(out), Some(error)) = (&mut self.0, failure.error)
                && let Ok(handle) = RESULTS.insert(*error)
            {
                out.put(handle);
            }
            failure.status
        })
    }
}
