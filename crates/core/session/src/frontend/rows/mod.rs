//! Reads results in the bytes that the server sent. A row in a run of messages, and a value in a row, is found when the
//! caller asks for it.
//!
//! ```text
//!   run      D len row | D len row | C len tag | 2 len | D len row ...
//!   Frames   one step from header to header
//!   RowView  body of a DataRow: count | len value | len value | len value ...
//!   marks                              ^ 0         ^ 1         ^ 2     found on the first visit
//! ```
//!
//! This module allocates no memory, and reads nothing before the caller asks for it. If the lengths in a row are wrong,
//! a caller gets an error when it asks for a value at or behind the wrong place.

mod frames;
mod row;

pub use frames::{Frames, Part, Parts};
pub use row::{MARKS, RowError, RowMarks, RowView};
