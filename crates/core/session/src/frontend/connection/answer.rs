//! One message of the server, and what it is the answer to.

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

/// How much of the head's answer has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    /// Nothing.
    Start,
    /// A statement's parameters were described, its columns were not.
    Described,
    /// A batch's item is bound; its rows or its end are due.
    Bound,
    /// Rows may come.
    Rows,
    /// A query's command is done; another result or the query's end is due.
    Between,
    /// The server waits for copied data.
    CopyIn,
    /// Copied data comes.
    CopyOut,
    /// Copied data is complete.
    CopyOutDone,
    /// A query failed: its end is due.
    QueryFailed,
    /// A turn failed: all is skipped up to its Sync.
    Skipping,
}

impl Connection {
    /// What the next message answers, unless it is one that may come at any time.
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

    /// A whole message that is due.
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
            // A run has taken those that are right.
            data_row::TAG => {
                DataRow::decode(body)?;
                return Err(unexpected(tag, "here"));
            }
            _ => return Err(unexpected(tag, "from a server")),
        })
    }

    /// The head is answered, or the head's item is.
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

    /// PostgreSQL's COPY reads messages by itself: it drops any Sync, and fails for what is no copied data. Since version 14
    /// it ends the connection then. Before that, in a simple query that message was lost and what follows it run; else all
    /// was skipped up to a Sync, as after any error.
    fn copy_in_begins(&mut self) {
        self.within = Within::CopyIn;
        let expects = &mut self.pipeline.expects;
        // If the batch has more items, the server reads the next Bind.
        if matches!(expects.front(), Some(Expect::BindExecute { left: 2.. })) {
            return;
        }
        while let Some(Expect::Sync { .. }) = expects.get(1) {
            expects.remove(1);
            self.lost_turns += 1;
        }
        let in_query = matches!(expects.front(), Some(Expect::Query { .. }));
        // If it was a Bind and an Execute, only the Bind is lost: the Execute fails.
        let read =
            expects.get(1).filter(|next| !matches!(next, Expect::CopyEnd | Expect::BindExecute { .. }));
        if let Some(read) = read.copied().filter(|_| in_query) {
            expects.remove(1);
            self.lost_turns += u32::from(read.turn_at().is_some());
        }
    }

    fn error<'b>(&mut self, error: ErrorResponse<'b>) -> Result<Event<'b>, Misbehaviour> {
        // A server that is not PostgreSQL may say no severity: then it counts as an ERROR.
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

/// The types of the messages that may answer `head`, beside those that may come at any time.
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
