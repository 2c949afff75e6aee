//! NOTIFY, LISTEN, UNLISTEN.

use crate::deparse::need::given;
use crate::deparse::{Deparser, Done};
use crate::node::{ListenStmt, NotifyStmt, UnlistenStmt};

impl Deparser<'_> {
    pub(in crate::deparse) fn notify_stmt(&mut self, statement: NotifyStmt<'_>) -> Done {
        self.str("NOTIFY ");
        self.ident(given(statement.conditionname(), "a channel")?);
        if let Some(payload) = statement.payload() {
            self.str(", ");
            self.string_literal(payload);
        }
        Ok(())
    }

    pub(in crate::deparse) fn listen_stmt(&mut self, statement: ListenStmt<'_>) -> Done {
        self.str("LISTEN ");
        self.ident(given(statement.conditionname(), "a channel")?);
        Ok(())
    }

    pub(in crate::deparse) fn unlisten_stmt(&mut self, statement: UnlistenStmt<'_>) -> Done {
        self.str("UNLISTEN ");
        match statement.conditionname() {
            Some(name) => self.ident(name),
            None => self.char('*'),
        }
        Ok(())
    }
}
