//! Settings of a session and of the server: SHOW, DISCARD, ALTER SYSTEM.

use crate::deparse::need::given;
use crate::deparse::{Deparser, Done};
use crate::node::{AlterSystemStmt, DiscardMode, DiscardStmt, VariableShowStmt};

/// Settings that the grammar has words for.
const WORDS: [(&str, &str); 4] = [
    ("timezone", "TIME ZONE"),
    ("transaction_isolation", "TRANSACTION ISOLATION LEVEL"),
    ("session_authorization", "SESSION AUTHORIZATION"),
    ("all", "ALL"),
];

impl Deparser<'_> {
    pub(in crate::deparse) fn variable_show_stmt(&mut self, statement: VariableShowStmt<'_>) -> Done {
        self.str("SHOW ");
        let name = given(statement.name(), "a setting")?;
        match WORDS.iter().find(|(setting, _)| *setting == name) {
            Some((_, words)) => self.str(words),
            None => self.ident(name),
        }
        Ok(())
    }

    pub(in crate::deparse) fn discard_stmt(&mut self, statement: DiscardStmt<'_>) -> Done {
        self.str(match statement.target() {
            DiscardMode::DiscardAll => "DISCARD ALL",
            DiscardMode::DiscardPlans => "DISCARD PLANS",
            DiscardMode::DiscardSequences => "DISCARD SEQUENCES",
            DiscardMode::DiscardTemp => "DISCARD TEMP",
        });
        Ok(())
    }

    pub(in crate::deparse) fn alter_system_stmt(&mut self, statement: AlterSystemStmt<'_>) -> Done {
        self.str("ALTER SYSTEM ");
        self.variable_set_stmt(given(statement.setstmt(), "a setting")?)
    }
}
