//! Iterates over the messages of a run.

use trunkline_wire::backend::{CommandComplete, command_complete, copy_data, data_row, empty_query_response};
use trunkline_wire::{Malformed, frame};

use super::row::RowView;

/// Iterates over the bodies of all messages of one type in a run. Other messages are skipped.
#[derive(Debug, Clone, Copy)]
pub struct Frames<'a> {
    rest: &'a [u8],
    tag: u8,
}

impl<'a> Frames<'a> {
    /// The DataRow bodies of [`Event::Rows`](crate::frontend::Event::Rows) or
    /// [`Event::Batch`](crate::frontend::Event::Batch).
    #[must_use]
    pub fn rows(frames: &'a [u8]) -> Self {
        Self { rest: frames, tag: data_row::TAG }
    }

    /// The data of [`Event::CopyData`](crate::frontend::Event::CopyData), message by message.
    #[must_use]
    pub fn copied(frames: &'a [u8]) -> Self {
        Self { rest: frames, tag: copy_data::TAG }
    }

    /// The number of bytes of the run that are left.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            let (tag, body) = take_frame(&mut self.rest)?;
            if tag == self.tag {
                return Some(body);
            }
        }
    }
}

/// A row or an end in the answers to a batch.
#[derive(Debug)]
pub enum Part<'a> {
    /// A row of the current item.
    Row(RowView<'a>),
    /// The end of the current item.
    End(CommandComplete<'a>),
}

/// Iterates over the [`Event::Batch`](crate::frontend::Event::Batch) runs of a batch: the rows and ends of its items.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'a> {
    rest: &'a [u8],
}

impl<'a> Parts<'a> {
    /// Begins with a run.
    #[must_use]
    pub fn new(frames: &'a [u8]) -> Self {
        Self { rest: frames }
    }

    /// The number of bytes of the run that are left.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }
}

impl<'a> Iterator for Parts<'a> {
    type Item = Result<Part<'a>, Malformed>;

    #[inline]
    fn next(&mut self) -> Option<Result<Part<'a>, Malformed>> {
        loop {
            let (tag, body) = take_frame(&mut self.rest)?;
            match tag {
                data_row::TAG => return Some(Ok(Part::Row(RowView::new(body)))),
                command_complete::TAG => return Some(CommandComplete::decode(body).map(Part::End)),
                empty_query_response::TAG => {
                    return Some(Ok(Part::End(CommandComplete { command_tag: b"" })));
                }
                _ => {}
            }
        }
    }
}

/// A run has only complete messages. The iteration ends at anything else.
#[inline]
fn take_frame<'a>(rest: &mut &'a [u8]) -> Option<(u8, &'a [u8])> {
    let header = frame::header(rest).ok()??;
    let (frame, after) = rest.split_at_checked(header.frame_bytes())?;
    *rest = after;
    Some((header.tag, frame.get(frame::HEADER_BYTES..)?))
}
