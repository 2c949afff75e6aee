//! The modelled server while it reads copied data.

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
            // CopyFail, or anything else: an error, and that message is lost. (PostgreSQL 14 and later end the connection for
            // anything else.)
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
