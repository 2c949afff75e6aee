//! Handles one message of the server: which of our messages it answers, and whether it may come now.

use trunkline_wire::backend::{
    CommandComplete, CopyInResponse, CopyOutResponse, DataRow, ErrorResponse, NoticeResponse,
    NotificationResponse, ParameterDescription, ParameterStatus, ReadyForQuery, RowDescription,
};
use trunkline_wire::backend::{
    bind_complete, close_complete, command_complete, copy_data, copy_done, copy_in_response,
    copy_out_response, data_row, empty_query_response, error_response, no_data, notice_response,
    notification_response, parameter_description, parameter_status, parse_complete, portal_suspended,
    ready_for_query, row_description,
};

use super::Connection;
use super::event::Event;
use super::expect::Expect;
use crate::frontend::error::Misbehaviour;

/// How much of the answer to the head has come. The *head* is the first entry in the queue of expected answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    /// Nothing.
    Start,
    /// The server has described a statement's parameters, but not its columns yet.
    Described,
    /// An item of a batch is bound. Its rows or its end must come next.
    Bound,
    /// Rows may come.
    Rows,
    /// A command of a simple query has ended. Another result or the end of the query must come next.
    Between,
    /// The server waits for copied data.
    CopyIn,
    /// The server sends copied data.
    CopyOut,
    /// The server has sent all copied data.
    CopyOutDone,
    /// A simple query has failed. Its end must come next.
    QueryFailed,
    /// A turn has failed. The server skips all messages up to its Sync.
    Skipping,
}

impl Connection {
    /// The entry that the server's next message answers, unless that message may come at any time.
    #[inline]
    pub(super) fn head(&mut self) -> Option<Expect> {
        loop {
            match self.pipeline.expects.front() {
                Some(Expect::CopyEnd) if self.within == Within::Start => self.pipeline.expects.pop_front(),
                head => return head.copied(),
            };
        }
    }

    /// Whether a message of this type may come now.
    pub(super) fn check_due(&mut self, tag: u8) -> Result<(), Misbehaviour> {
        if matches!(
            tag,
            notice_response::TAG | notification_response::TAG | parameter_status::TAG | error_response::TAG
        ) {
            return Ok(());
        }
        let Some(head) = self.head() else {
            return Err(unexpected(tag, "while nothing is asked of the server"));
        };
        if due(head, self.within).contains(&tag) {
            return Ok(());
        }
        Err(unexpected(
            tag,
            match (self.within, head) {
                (Within::Skipping | Within::QueryFailed, _) => "between an error and ReadyForQuery",
                (Within::CopyIn | Within::CopyOut | Within::CopyOutDone, _) => "in a COPY",
                (_, Expect::Parse) => "in answer to a Parse",
                (_, Expect::Bind) => "in answer to a Bind",
                (_, Expect::DescribeStatement | Expect::DescribePortal) => "in answer to a Describe",
                (_, Expect::Execute) => "in answer to an Execute",
                (_, Expect::BindExecute { .. }) => "in answer to a Bind and Execute",
                (_, Expect::Close) => "in answer to a Close",
                (_, Expect::Sync { .. }) => "in answer to a Sync",
                (_, Expect::Query { .. } | Expect::CopyEnd) => "in answer to a Query",
            },
        ))
    }

    /// Handles a complete message that may come now.
    // tidy: long because it is one table
    pub(super) fn message<'b>(&mut self, tag: u8, body: &'b [u8]) -> Result<Event<'b>, Misbehaviour> {
        Ok(match tag {
            parse_complete::TAG => {
                parse_complete::decode(body)?;
                self.done(Event::ParseComplete)
            }
            bind_complete::TAG => {
                bind_complete::decode(body)?;
                self.done(Event::BindComplete)
            }
            close_complete::TAG => {
                close_complete::decode(body)?;
                self.done(Event::CloseComplete)
            }
            parameter_description::TAG => {
                self.within = Within::Described;
                Event::Parameters(ParameterDescription::decode(body)?)
            }
            row_description::TAG => {
                let event = Event::Columns(RowDescription::decode(body)?);
                match self.pipeline.expects.front() {
                    Some(Expect::Query { .. }) => {
                        self.within = Within::Rows;
                        event
                    }
                    _ => self.done(event),
                }
            }
            no_data::TAG => {
                no_data::decode(body)?;
                self.done(Event::NoData)
            }
            portal_suspended::TAG => {
                portal_suspended::decode(body)?;
                self.done(Event::Suspended)
            }
            command_complete::TAG => {
                let event = Event::Complete(CommandComplete::decode(body)?);
                self.command_over(event)
            }
            empty_query_response::TAG => {
                empty_query_response::decode(body)?;
                self.command_over(Event::EmptyQuery)
            }
            copy_in_response::TAG => {
                let response = CopyInResponse::decode(body)?;
                self.copy_in_begins();
                Event::CopyIn(response)
            }
            copy_out_response::TAG => {
                self.within = Within::CopyOut;
                Event::CopyOut(CopyOutResponse::decode(body)?)
            }
            copy_done::TAG => {
                copy_done::decode(body)?;
                self.within = Within::CopyOutDone;
                Event::CopyDone
            }
            error_response::TAG => self.error(ErrorResponse::decode(body)?)?,
            ready_for_query::TAG => self.turn_over(ReadyForQuery::decode(body)?),
            notice_response::TAG => Event::Notice(NoticeResponse::decode(body)?),
            notification_response::TAG => Event::Notification(NotificationResponse::decode(body)?),
            parameter_status::TAG => {
                let status = ParameterStatus::decode(body)?;
                self.ready.parameter_status(&status)?;
                Event::ParameterStatus(status)
            }
            // The well-formed rows were handled as a run before, so this one is malformed.
            data_row::TAG => {
                DataRow::decode(body)?;
                return Err(unexpected(tag, "here"));
            }
            _ => return Err(unexpected(tag, "from a server")),
        })
    }

    /// The head is answered completely, or an item of it if it is a batch.
    pub(super) fn done<'b>(&mut self, event: Event<'b>) -> Event<'b> {
        match self.pipeline.expects.front_mut() {
            Some(Expect::BindExecute { left }) if *left > 1 => *left -= 1,
            _ => drop(self.pipeline.expects.pop_front()),
        }
        self.within = Within::Start;
        event
    }

    fn command_over<'b>(&mut self, event: Event<'b>) -> Event<'b> {
        if self.within == Within::CopyIn && self.pipeline.expects.get(1) == Some(&Expect::CopyEnd) {
            self.pipeline.expects.remove(1);
        }
        match self.pipeline.expects.front() {
            Some(Expect::Query { .. }) => {
                self.within = Within::Between;
                event
            }
            _ => self.done(event),
        }
    }

    /// PostgreSQL's COPY FROM STDIN reads messages itself. It drops every Sync, and fails at a message that is not
    /// part of copied data. Since version 14 it then ends the connection. Older versions lost that message. In a
    /// simple query they ran the messages after it; otherwise they skipped all messages up to a Sync, as after any
    /// error.
    fn copy_in_begins(&mut self) {
        self.within = Within::CopyIn;
        let expects = &mut self.pipeline.expects;
        // If the batch has more items, the COPY reads the next item's Bind.
        if matches!(expects.front(), Some(Expect::BindExecute { left: 2.. })) {
            return;
        }
        while let Some(Expect::Sync { .. }) = expects.get(1) {
            expects.remove(1);
            self.lost_turns += 1;
        }
        let in_query = matches!(expects.front(), Some(Expect::Query { .. }));
        // If the next entry is a Bind and an Execute, only the Bind is lost: the Execute fails.
        let read =
            expects.get(1).filter(|next| !matches!(next, Expect::CopyEnd | Expect::BindExecute { .. }));
        if let Some(read) = read.copied().filter(|_| in_query) {
            expects.remove(1);
            self.lost_turns += u32::from(read.turn_at().is_some());
        }
    }

    fn error<'b>(&mut self, error: ErrorResponse<'b>) -> Result<Event<'b>, Misbehaviour> {
        // A server other than PostgreSQL may send no severity. The error then counts as an ERROR.
        if matches!(error.severity(), Some(b"FATAL" | b"PANIC")) {
            return Ok(Event::Fatal(error));
        }
        self.within = match (self.head(), self.within) {
            (None, _) | (_, Within::Skipping | Within::QueryFailed) => {
                return Err(unexpected(error_response::TAG, "where nothing can fail"));
            }
            (Some(Expect::Query { .. }), _) => Within::QueryFailed,
            _ => Within::Skipping,
        };
        Ok(Event::Error(error))
    }

    fn turn_over<'b>(&mut self, ready: ReadyForQuery) -> Event<'b> {
        let mut turns = std::mem::take(&mut self.lost_turns);
        while let Some(popped) = self.pipeline.expects.pop_front() {
            turns += u32::from(popped.turn_at().is_some());
            match popped {
                Expect::Sync { .. } => break,
                Expect::Query { .. } if self.within != Within::Skipping => break,
                _ => {}
            }
        }
        self.within = Within::Start;
        self.status = ready.status;
        self.turns_over += u64::from(turns);
        Event::Ready { status: ready.status, turns }
    }
}

/// The types of the messages that may answer `head` now. Messages that may come at any time are not among them.
fn due(head: Expect, within: Within) -> &'static [u8] {
    use {bind_complete as b, command_complete as c, copy_in_response as g, copy_out_response as h};
    use {data_row as d, empty_query_response as i, portal_suspended as s, row_description as t};
    match (within, head) {
        (Within::Skipping | Within::QueryFailed, _) => &[ready_for_query::TAG],
        (Within::CopyIn | Within::CopyOutDone, _) => &[c::TAG],
        (Within::CopyOut, _) => &[copy_data::TAG, copy_done::TAG],
        (Within::Between, _) => &[t::TAG, c::TAG, i::TAG, g::TAG, h::TAG, ready_for_query::TAG],
        (Within::Rows, Expect::Query { .. }) => &[d::TAG, c::TAG],
        (Within::Rows, _) => &[d::TAG, c::TAG, s::TAG],
        (Within::Described, _) => &[t::TAG, no_data::TAG],
        (Within::Bound, _) => &[d::TAG, c::TAG, i::TAG, g::TAG, h::TAG],
        (Within::Start, head) => match head {
            Expect::Parse => &[parse_complete::TAG],
            Expect::Bind | Expect::BindExecute { .. } => &[b::TAG],
            Expect::DescribeStatement => &[parameter_description::TAG],
            Expect::DescribePortal => &[t::TAG, no_data::TAG],
            Expect::Execute => &[d::TAG, c::TAG, i::TAG, s::TAG, g::TAG, h::TAG],
            Expect::Close => &[close_complete::TAG],
            Expect::CopyEnd => &[],
            Expect::Sync { .. } => &[ready_for_query::TAG],
            Expect::Query { .. } => &[t::TAG, c::TAG, i::TAG, g::TAG, h::TAG],
        },
    }
}

pub(super) fn unexpected(tag: u8, when: &'static str) -> Misbehaviour {
    Misbehaviour::Unexpected { tag, when }
}
