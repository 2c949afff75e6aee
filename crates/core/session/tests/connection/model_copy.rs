//! The model of a server while it reads copied data.

use trunkline_wire::frontend::Message as M;

use crate::model::{Mode, Model};

impl Model {
    pub(crate) fn in_copy(&mut self, message: &M<'_>) {
        let Mode::CopyIn(query) = &mut self.mode else { return };
        match message {
            M::CopyData(data) => self.copied.extend_from_slice(data.data),
            M::Sync | M::Flush => {}
            M::CopyDone => {
                let query = query.take();
                self.mode = Mode::Normal;
                self.complete("COPY");
                if let Some(left) = query {
                    self.commands(left);
                }
            }
            // CopyFail or any other message: the COPY fails, and the message is lost. (For any other message,
            // PostgreSQL 14 and later end the connection.)
            _ => {
                let query = query.take();
                self.fail();
                if query.is_some() {
                    self.ready();
                }
            }
        }
    }
}
