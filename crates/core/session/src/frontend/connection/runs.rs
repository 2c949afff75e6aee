//! Runs of messages that there may be millions of: rows, copied data, the answers to a batch. Each is one event for all of
//! it that is there.
//!
//! A message that is wrong ends a run. The next one then begins with it, finds nothing, and the message is looked at by
//! itself, so that what is reported does not depend on how the bytes arrive.

use trunkline_wire::backend::{bind_complete, command_complete, copy_data, data_row, empty_query_response};
use trunkline_wire::{Header, frame};

use super::Connection;
use super::answer::Within;
use super::event::Event;
use super::expect::Expect;

/// The shortest DataRow, by its length on the wire: the length itself and the count of columns.
const ROW_LENGTH_MIN: u32 = 6;

impl Connection {
    /// The run at the front of `input`, if there is one and it has a whole message.
    #[inline]
    pub(super) fn run<'b>(&mut self, input: &mut &'b [u8]) -> Option<Event<'b>> {
        match (self.head()?, self.within) {
            (Expect::BindExecute { left }, Within::Start | Within::Bound) => self.batch(input, left),
            (Expect::Execute, Within::Start | Within::Rows) => self.rows(input),
            (Expect::Query { .. }, Within::Rows) => self.rows(input),
            (_, Within::CopyOut) => {
                let (frames, count) = self.alike(input, copy_data::TAG, frame::LENGTH_MIN);
                (count > 0).then_some(Event::CopyData { frames, count })
            }
            _ => None,
        }
    }

    fn rows<'b>(&mut self, input: &mut &'b [u8]) -> Option<Event<'b>> {
        let (frames, count) = self.alike(input, data_row::TAG, ROW_LENGTH_MIN);
        if count == 0 {
            return None;
        }
        self.within = Within::Rows;
        Some(Event::Rows { frames, count })
    }

    /// Takes the whole messages of one type off the front of `input`.
    fn alike<'b>(&self, input: &mut &'b [u8], tag: u8, length_min: u32) -> (&'b [u8], u32) {
        let mut rest = *input;
        let mut count = 0;
        while let Some((header, after)) = self.whole(rest) {
            if header.tag != tag || header.length < length_min || count == u32::MAX {
                break;
            }
            rest = after;
            count += 1;
        }
        (taken(input, rest), count)
    }

    /// Takes what belongs to a batch's items off the front of `input`.
    fn batch<'b>(&mut self, input: &mut &'b [u8], mut left: u32) -> Option<Event<'b>> {
        let mut rest = *input;
        let mut items = 0;
        let mut within = self.within;
        while left > 0 {
            let Some((header, after)) = self.whole(rest) else { break };
            match (within, header.tag) {
                (Within::Start, bind_complete::TAG) if header.body_bytes() == 0 => within = Within::Bound,
                (Within::Bound, data_row::TAG) if header.length >= ROW_LENGTH_MIN => {}
                (Within::Bound, command_complete::TAG | empty_query_response::TAG) => {
                    within = Within::Start;
                    items += 1;
                    left -= 1;
                }
                _ => break,
            }
            rest = after;
        }
        let frames = taken(input, rest);
        if frames.is_empty() {
            return None;
        }
        self.within = within;
        match self.pipeline.expects.front_mut() {
            Some(Expect::BindExecute { left: field }) if left > 0 => *field = left,
            _ => drop(self.pipeline.expects.pop_front()),
        }
        Some(Event::Batch { frames, items })
    }

    /// The message at the front of `input`, if all of it is there and it is not too long, and what follows it.
    #[inline]
    fn whole<'b>(&self, input: &'b [u8]) -> Option<(Header, &'b [u8])> {
        let header = frame::header(input).ok()??;
        let (_, rest) = input.split_at_checked(header.frame_bytes())?;
        (header.length <= self.limits.server_message_bytes).then_some((header, rest))
    }
}

/// What was taken off the front of `input` so that `rest` is left.
fn taken<'b>(input: &mut &'b [u8], rest: &'b [u8]) -> &'b [u8] {
    let (frames, _) = input.split_at(input.len() - rest.len());
    *input = rest;
    frames
}
