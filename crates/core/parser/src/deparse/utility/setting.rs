//! Settings of a session and of the server: SHOW, DISCARD, ALTER SYSTEM.

use crate::deparse::names::NAME_BYTES_LIMIT;
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
            None => self.var_name(name),
        }
        Ok(())
    }

    /// `var_name`: its parts in one identifier, as long as that is not cut.
    pub(super) fn var_name(&mut self, name: &str) {
        let mut rest = name;
        while let Some(dot) = inner_dot(rest).filter(|_| rest.len() >= NAME_BYTES_LIMIT) {
            self.ident(&rest[..dot]);
            self.char('.');
            rest = &rest[dot + 1..];
        }
        self.ident(rest);
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

/// The last dot with a name on either side, of which the first is no longer than an identifier may be.
fn inner_dot(name: &str) -> Option<usize> {
    let first = name.as_bytes().get(..name.len().saturating_sub(1).min(NAME_BYTES_LIMIT))?;
    memchr::memrchr(b'.', first).filter(|dot| *dot > 0)
}
