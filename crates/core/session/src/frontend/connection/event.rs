//! The events that a server's messages cause.

use trunkline_wire::backend::{
    CommandComplete, CopyInResponse, CopyOutResponse, ErrorResponse, NoticeResponse, NotificationResponse,
    ParameterDescription, ParameterStatus, RowDescription, TransactionStatus,
};

/// A message or several messages of the server. Answers come in the order of our messages. An event borrows the input
/// bytes.
///
/// Rows and copied data come as runs: one event holds many complete messages. [`rows`](crate::frontend::rows) reads
/// them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'b> {
    /// A statement is prepared.
    ParseComplete,
    /// A portal exists.
    BindComplete,
    /// A statement or portal is closed.
    CloseComplete,
    /// The types of a statement's parameters.
    Parameters(ParameterDescription<'b>),
    /// The columns of the rows that follow, or of the rows that a described statement returns.
    Columns(RowDescription<'b>),
    /// The described statement or portal returns no rows.
    NoData,
    /// DataRow messages.
    Rows {
        /// Complete messages with their headers.
        frames: &'b [u8],
        /// The number of messages.
        count: u32,
    },
    /// Part of the answers to a batch: BindComplete, DataRow, CommandComplete and EmptyQueryResponse messages. The
    /// answer to one item may begin in one event and end in a later one.
    Batch {
        /// Complete messages with their headers.
        frames: &'b [u8],
        /// The number of items whose answers end here.
        items: u32,
    },
    /// A command has ended.
    Complete(CommandComplete<'b>),
    /// The query's text has no command.
    EmptyQuery,
    /// An Execute has returned as many rows as it asked for. The portal may have more.
    Suspended,
    /// The server waits for copied data, up to CopyDone or CopyFail. A caller that has no data calls
    /// [`Connection::refuse_copy_in`](super::Connection::refuse_copy_in).
    ///
    /// If other messages were sent behind the COPY already, the COPY reads them, so they are not run. After a simple
    /// query, the COPY reads only the first message of an extended turn that follows. So send nothing behind a simple
    /// query that may be a COPY until it is answered.
    CopyIn(CopyInResponse<'b>),
    /// The server sends copied data next.
    CopyOut(CopyOutResponse<'b>),
    /// CopyData messages.
    CopyData {
        /// Complete messages with their headers.
        frames: &'b [u8],
        /// The number of messages.
        count: u32,
    },
    /// The server has sent all copied data.
    CopyDone,
    /// The message that this answers has failed. The server does not run the rest of its turn.
    Error(ErrorResponse<'b>),
    /// A turn has ended.
    Ready {
        /// The state of the transaction.
        status: TransactionStatus,
        /// How many turns end here, in the order of [`Pipeline::turns`](super::Pipeline::turns). It is more than 1 if
        /// a COPY has read the Syncs of turns.
        turns: u32,
    },
    /// The server ends the connection with this error. No more events follow; call
    /// [`Connection::handle_end`](super::Connection::handle_end).
    Fatal(ErrorResponse<'b>),
    /// A notice. It may come at any time.
    Notice(NoticeResponse<'b>),
    /// A NOTIFY. It may come at any time.
    Notification(NotificationResponse<'b>),
    /// The value of a parameter has changed. This may come at any time. The connection has stored the new value
    /// already.
    ParameterStatus(ParameterStatus<'b>),
}
