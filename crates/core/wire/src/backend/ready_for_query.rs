//! ReadyForQuery: the server has answered everything up to a Sync or Query, and waits for the next message.

use crate::frame::HEADER_BYTES;
use crate::read::{Malformed, Problem, Reader};

/// The type byte of ReadyForQuery.
pub const TAG: u8 = b'Z';

/// The number of bytes of a ReadyForQuery, with its header.
pub const FRAME_BYTES: usize = HEADER_BYTES + 1;

/// Whether a transaction is open, as the server reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum TransactionStatus {
    /// No transaction is open.
    Idle = b'I',
    /// A transaction is open.
    InTransaction = b'T',
    /// A transaction is open and has failed: the server refuses all commands except those that end it.
    Failed = b'E',
}

impl TransactionStatus {
    /// The status for the byte in the message.
    #[inline]
    #[must_use]
    pub fn from_byte(byte: u8) -> Option<TransactionStatus> {
        match byte {
            b'I' => Some(TransactionStatus::Idle),
            b'T' => Some(TransactionStatus::InTransaction),
            b'E' => Some(TransactionStatus::Failed),
            _ => None,
        }
    }

    /// The byte in the message.
    #[inline]
    #[must_use]
    pub fn as_byte(self) -> u8 {
        self as u8
    }
}

/// ReadyForQuery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadyForQuery {
    /// Whether a transaction is open.
    pub status: TransactionStatus,
}

impl ReadyForQuery {
    /// Decodes a body.
    ///
    /// # Errors
    /// [`Malformed`] when it is not `I`, `T` or `E`.
    #[inline]
    pub fn decode(body: &[u8]) -> Result<ReadyForQuery, Malformed> {
        let mut reader = Reader::new(body);
        let start = reader;
        let status = TransactionStatus::from_byte(reader.u8("transaction status")?)
            .ok_or_else(|| start.malformed("transaction status", Problem::Value))?;
        reader.finish()?;
        Ok(ReadyForQuery { status })
    }

    /// The message with its header.
    #[inline]
    #[must_use]
    pub fn frame(self) -> [u8; FRAME_BYTES] {
        [TAG, 0, 0, 0, 5, self.status.as_byte()]
    }

    /// Appends the message to `out`.
    #[inline]
    pub fn encode(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.frame());
    }
}
