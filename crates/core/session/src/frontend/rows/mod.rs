//! Results as they came: rows are found in a run of messages, values in a row, when they are asked for.
//!
//! ```text
//!   run      D len row | D len row | C len tag | 2 len | D len row ...
//!   Frames   one step from header to header
//!   RowView  body of a DataRow: count | len value | len value | len value ...
//!   marks                              ^ 0         ^ 1         ^ 2     found on the first visit
//! ```
//!
//! Nothing here allocates, and nothing is decoded or checked before it is touched: a row whose lengths do not add up is
//! an error for the caller that asks for a value after them.

mod frames;
mod row;

pub use frames::{Frames, Part, Parts};
pub use row::{MARKS, RowError, RowMarks, RowView};
