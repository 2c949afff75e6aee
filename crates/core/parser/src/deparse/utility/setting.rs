//! Writes SHOW, DISCARD, ALTER SYSTEM.

use crate::deparse::names::NAME_BYTES_LIMIT;
use crate::deparse::need::required;
use crate::deparse::{DeparseResult, Deparser};
use crate::node::{AlterSystemStmt, DiscardMode, DiscardStmt, VariableShowStmt};

/// Settings with special words in the grammar.
const WORDS: [(&str, &str); 4] = [
    ("timezone", "TIME ZONE"),
    ("transaction_isolation", "TRANSACTION ISOLATION LEVEL"),
    ("session_authorization", "SESSION AUTHORIZATION"),
    ("all", "ALL"),
];

impl Deparser<'_> {
    pub(in crate::deparse) fn variable_show_stmt(
        &mut self,
        statement: VariableShowStmt<'_>,
    ) -> DeparseResult {
        self.str("SHOW ");
        let name = required(statement.name(), "a setting")?;
        match WORDS.iter().find(|(setting, _)| *setting == name) {
            Some((_, words)) => self.str(words),
            None => self.var_name(name),
        }
        Ok(())
    }

    /// `var_name`: its parts with dots between them as one identifier, if that is short enough not to be cut.
    pub(super) fn var_name(&mut self, name: &str) {
        let mut rest = name;
        while let Some(dot) = inner_dot(rest).filter(|_| rest.len() >= NAME_BYTES_LIMIT) {
            self.ident(&rest[..dot]);
            self.char('.');
            rest = &rest[dot + 1..];
        }
        self.ident(rest);
    }

    pub(in crate::deparse) fn discard_stmt(&mut self, statement: DiscardStmt<'_>) -> DeparseResult {
        self.str(match statement.target() {
            DiscardMode::DiscardAll => "DISCARD ALL",
            DiscardMode::DiscardPlans => "DISCARD PLANS",
            DiscardMode::DiscardSequences => "DISCARD SEQUENCES",
            DiscardMode::DiscardTemp => "DISCARD TEMP",
        });
        Ok(())
    }

    pub(in crate::deparse) fn alter_system_stmt(&mut self, statement: AlterSystemStmt<'_>) -> DeparseResult {
        self.str("ALTER SYSTEM ");
        self.variable_set_stmt(required(statement.setstmt(), "a setting")?)
    }
}

/// The position of the last dot with a name on either side, where the first name is short enough for an identifier.
fn inner_dot(name: &str) -> Option<usize> {
    let first = name.as_bytes().get(..name.len().saturating_sub(1).min(NAME_BYTES_LIMIT))?;
    memchr::memrchr(b'.', first).filter(|dot| *dot > 0)
}
