//! Finds runs of messages: rows, copied data, the answers to a batch. There may be millions of such messages, so all of
//! them that have arrived make one event.
//!
//! A run ends before a message that is wrong. The next call finds an empty run and handles that message alone. So the
//! reported error does not depend on how the bytes arrive.

use trunkline_wire::backend::{bind_complete, command_complete, copy_data, data_row, empty_query_response};
use trunkline_wire::{Header, frame};

use super::Connection;
use super::answer::Within;
use super::event::Event;
use super::expect::Expect;

/// The smallest length field of a DataRow: it counts itself and the number of columns.
const ROW_LENGTH_MIN: u32 = 6;

impl Connection {
    /// The run at the front of `input`, if there is one with at least one complete message.
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

    /// Removes the complete messages of one type from the front of `input` and returns them.
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

    /// Removes the answers to a batch's items from the front of `input` and returns them.
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

    /// The header of the message at the front of `input`, and the bytes after the message. `None` if the message is
    /// incomplete or too long.
    #[inline]
    fn whole<'b>(&self, input: &'b [u8]) -> Option<(Header, &'b [u8])> {
        let header = frame::header(input).ok()??;
        let (_, rest) = input.split_at_checked(header.frame_bytes())?;
        (header.length <= self.limits.server_message_bytes).then_some((header, rest))
    }
}

/// Shortens `input` to `rest`, and returns the bytes before `rest`.
fn taken<'b>(input: &mut &'b [u8], rest: &'b [u8]) -> &'b [u8] {
    let (frames, _) = input.split_at(input.len() - rest.len());
    *input = rest;
    frames
}
