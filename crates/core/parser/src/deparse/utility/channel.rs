//! NOTIFY, LISTEN, UNLISTEN.

use crate::deparse::need::required;
use crate::deparse::{DeparseResult, Deparser};
use crate::node::{ListenStmt, NotifyStmt, UnlistenStmt};

impl Deparser<'_> {
    pub(in crate::deparse) fn notify_stmt(&mut self, statement: NotifyStmt<'_>) -> DeparseResult {
        self.str("NOTIFY ");
        self.ident(required(statement.conditionname(), "a channel")?);
        if let Some(payload) = statement.payload() {
            self.str(", ");
            self.string_literal(payload);
        }
        Ok(())
    }

    pub(in crate::deparse) fn listen_stmt(&mut self, statement: ListenStmt<'_>) -> DeparseResult {
        self.str("LISTEN ");
        self.ident(required(statement.conditionname(), "a channel")?);
        Ok(())
    }

    pub(in crate::deparse) fn unlisten_stmt(&mut self, statement: UnlistenStmt<'_>) -> DeparseResult {
        self.str("UNLISTEN ");
        match statement.conditionname() {
            Some(name) => self.ident(name),
            None => self.char('*'),
        }
        Ok(())
    }
}
