//! Results of the simple protocol: texts.

use std::sync::Arc;

use trunkline_session::frontend::Event;
use trunkline_session::frontend::rows::{Frames, RowView};

use crate::error::Error;

/// What one command of a simple query returned.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SimpleResult {
    columns: Arc<[Box<str>]>,
    rows: Vec<SimpleRow>,
    tag: Box<str>,
}

/// A row of texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleRow {
    columns: Arc<[Box<str>]>,
    values: Box<[Option<Box<str>>]>,
}

impl SimpleResult {
    /// The columns' names.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = &str> {
        self.columns.iter().map(|name| &**name)
    }

    /// The rows.
    #[must_use]
    pub fn rows(&self) -> &[SimpleRow] {
        &self.rows
    }

    /// The command tag, such as `INSERT 0 1`; empty for a text without a command.
    #[must_use]
    pub fn tag(&self) -> &str {
        &self.tag
    }
}

impl SimpleRow {
    /// The text of the column at `index`; `None` is NULL, or no such column.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&str> {
        self.values.get(index)?.as_deref()
    }

    /// The text of the first column of that name.
    #[must_use]
    pub fn by_name(&self, name: &str) -> Option<&str> {
        self.get(self.columns.iter().position(|column| **column == *name)?)
    }
}

/// Takes what a simple query is answered with.
#[doc(hidden)]
pub fn take(results: &mut Vec<SimpleResult>, event: Event<'_>) -> Result<(), Error> {
    match event {
        Event::Columns(message) => {
            let columns = message.columns.map(|column| text(column.name)).collect();
            results.push(SimpleResult { columns, ..SimpleResult::default() });
        }
        Event::Rows { frames, .. } => {
            let Some(result) = results.last_mut() else { return Ok(()) };
            for body in Frames::rows(frames) {
                let view = RowView::new(body);
                let values = (0..view.columns().into()).map(|index| Ok(view.value(index)?.map(text)));
                let values = values.collect::<Result<_, Error>>()?;
                result.rows.push(SimpleRow { columns: Arc::clone(&result.columns), values });
            }
        }
        Event::Complete(complete) => match results.last_mut() {
            // A result with columns whose end this is.
            Some(result) if result.tag.is_empty() && !result.columns.is_empty() => {
                result.tag = text(complete.command_tag);
            }
            _ => results.push(SimpleResult { tag: text(complete.command_tag), ..SimpleResult::default() }),
        },
        Event::EmptyQuery => results.push(SimpleResult::default()),
        _ => {}
    }
    Ok(())
}

fn text(bytes: &[u8]) -> Box<str> {
    String::from_utf8_lossy(bytes).into()
}
