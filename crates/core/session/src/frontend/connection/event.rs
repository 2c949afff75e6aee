//! What a server's bytes mean.

use trunkline_wire::backend::{
    CommandComplete, CopyInResponse, CopyOutResponse, ErrorResponse, NoticeResponse, NotificationResponse,
    ParameterDescription, ParameterStatus, RowDescription, TransactionStatus,
};

/// What came, in the order of what was asked. Borrows the input that it was read from.
///
/// Rows and copied data come as runs of whole messages; [`rows`](crate::frontend::rows) reads them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'b> {
    /// A statement is prepared.
    ParseComplete,
    /// A portal is made.
    BindComplete,
    /// A statement or portal is closed.
    CloseComplete,
    /// The types of a statement's parameters.
    Parameters(ParameterDescription<'b>),
    /// The columns of the rows to come, or of a statement's.
    Columns(RowDescription<'b>),
    /// What was described returns no rows.
    NoData,
    /// DataRow messages.
    Rows {
        /// Whole messages, headers included.
        frames: &'b [u8],
        /// How many.
        count: u32,
    },
    /// A part of the answers to a batch: BindComplete, DataRow, CommandComplete and EmptyQueryResponse messages of its items.
    /// An item's answer may begin in one such part and end in a later one.
    Batch {
        /// Whole messages, headers included.
        frames: &'b [u8],
        /// How many items ended in it.
        items: u32,
    },
    /// A command is done.
    Complete(CommandComplete<'b>),
    /// The query's text has no command.
    EmptyQuery,
    /// An Execute gave as many rows as it was to; more may come.
    Suspended,
    /// The server waits for copied data, until CopyDone or CopyFail; a caller that has none calls
    /// [`Connection::refuse_copy_in`](super::Connection::refuse_copy_in).
    ///
    /// Messages that were sent after it before this was known are not run: the COPY swallows them. Of an extended turn
    /// after a simple query it swallows the first message only, so what follows a simple query that may be a COPY is
    /// best sent later.
    CopyIn(CopyInResponse<'b>),
    /// Copied data will come.
    CopyOut(CopyOutResponse<'b>),
    /// CopyData messages.
    CopyData {
        /// Whole messages, headers included.
        frames: &'b [u8],
        /// How many.
        count: u32,
    },
    /// The copied data is complete.
    CopyDone,
    /// What is answered here failed, and the rest of its turn was not run.
    Error(ErrorResponse<'b>),
    /// A turn is over.
    Ready {
        /// The transaction's state.
        status: TransactionStatus,
        /// How many turns end here, in the order of [`Pipeline::turns`](super::Pipeline::turns): 1, except for turns
        /// that a COPY has swallowed.
        turns: u32,
    },
    /// The server ends the connection, and says why. Nothing more comes: see
    /// [`Connection::handle_end`](super::Connection::handle_end).
    Fatal(ErrorResponse<'b>),
    /// A notice; at any time.
    Notice(NoticeResponse<'b>),
    /// A NOTIFY; at any time.
    Notification(NotificationResponse<'b>),
    /// A parameter's value changed; at any time. It is noted already.
    ParameterStatus(ParameterStatus<'b>),
}
