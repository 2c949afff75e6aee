//! Writes SET and RESET, transaction control, SET CONSTRAINTS.

use crate::deparse::context::Context;
use crate::deparse::names::string_of;
use crate::deparse::need::{int_of, required, required_node};
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::lexer::{Keyword, KeywordKind, keyword};
use crate::node::{
    AConst, ConstraintsSetStmt, DefElem, List, Node, StringNode, TransactionStmt, TransactionStmtKind,
    TypeCast, TypeName, VariableSetKind, VariableSetStmt, View,
};

use super::definition::option_name;

/// PostgreSQL's `INTERVAL_FULL_RANGE`: an interval with all fields. Its precision is written before its text.
const INTERVAL_FULL_RANGE: i32 = 0x7FFF;

/// The value of a constant in a setting.
fn constant_of(node: Option<Node<'_>>) -> Result<Option<Node<'_>>, DeparseError> {
    required_node::<AConst<'_>>(node, "the value of a setting").map(AConst::val)
}

/// The name of a time zone that [`Deparser::var_list`] would write as a keyword. TIME ZONE accepts no keyword as a
/// name.
fn zone_keyword(values: List<'_>) -> Option<&str> {
    let zone = constant_of(values.first()).ok()??.cast::<StringNode<'_>>()?.sval();
    let is_taken =
        |word: &Keyword| word.kind == KeywordKind::Unreserved || matches!(zone, "true" | "false" | "on");
    keyword(zone.as_bytes()).filter(|word| word.name == zone && is_taken(word)).map(|_| zone)
}

impl Deparser<'_> {
    /// `var_list`.
    pub(in crate::deparse) fn var_list(&mut self, values: List<'_>) -> DeparseResult {
        self.separated(values, |d, value| {
            let value = required(value, "the value of a setting")?;
            match value.view() {
                View::ParamRef(parameter) => d.param_ref(parameter),
                View::TypeCast(cast) => d.zone_interval(cast),
                View::AConst(constant) => {
                    let value = required(constant.val(), "the value of a setting")?;
                    match value.view() {
                        View::Integer(_) | View::Float(_) => d.numeric_only(value),
                        _ => d.opt_boolean_or_string(string_of(Some(value))?),
                    }
                }
                other => Err(DeparseError::misplaced(other.tag(), "the value of a setting")),
            }
        })
    }

    /// An interval as the value of TIME ZONE.
    fn zone_interval(&mut self, cast: TypeCast<'_>) -> DeparseResult {
        let modifiers = cast.type_name().map(TypeName::typmods).unwrap_or_default();
        let precision = match (modifiers.len(), modifiers.first()) {
            (0, _) => None,
            (2, fields) if int_of(constant_of(fields)?)? == INTERVAL_FULL_RANGE => modifiers.last(),
            _ => return self.type_cast(cast, Context::SetStatement),
        };
        self.str("interval");
        if precision.is_some() {
            self.char('(');
            self.int(int_of(constant_of(precision)?)?);
            self.char(')');
        }
        self.char(' ');
        self.string_literal(string_of(constant_of(cast.arg())?)?);
        Ok(())
    }

    /// `transaction_mode_list`.
    pub(in crate::deparse) fn transaction_mode_list(&mut self, modes: List<'_>) -> DeparseResult {
        self.separated(modes, |d, mode| {
            let mode = required_node::<DefElem<'_>>(mode, "a mode of a transaction")?;
            let value = constant_of(mode.arg())?;
            let words = match option_name(mode) {
                "transaction_isolation" => {
                    d.str("ISOLATION LEVEL ");
                    match string_of(value)? {
                        "read uncommitted" => "READ UNCOMMITTED",
                        "read committed" => "READ COMMITTED",
                        "repeatable read" => "REPEATABLE READ",
                        "serializable" => "SERIALIZABLE",
                        other => {
                            return Err(DeparseError::new(format!("{other:?} is not an isolation level")));
                        }
                    }
                }
                "transaction_read_only" if int_of(value)? == 0 => "READ WRITE",
                "transaction_read_only" => "READ ONLY",
                "transaction_deferrable" if int_of(value)? == 0 => "NOT DEFERRABLE",
                "transaction_deferrable" => "DEFERRABLE",
                other => return Err(DeparseError::new(format!("transactions have no mode {other:?}"))),
            };
            d.str(words);
            Ok(())
        })
    }

    pub(in crate::deparse) fn transaction_stmt(&mut self, stmt: TransactionStmt<'_>) -> DeparseResult {
        match stmt.kind() {
            TransactionStmtKind::TransStmtBegin => {
                self.str("BEGIN ");
                self.transaction_mode_list(stmt.options())?;
            }
            TransactionStmtKind::TransStmtStart => {
                self.str("START TRANSACTION ");
                self.transaction_mode_list(stmt.options())?;
            }
            TransactionStmtKind::TransStmtCommit if stmt.chain() => self.str("COMMIT AND CHAIN"),
            TransactionStmtKind::TransStmtCommit => self.str("COMMIT"),
            TransactionStmtKind::TransStmtRollback if stmt.chain() => self.str("ROLLBACK AND CHAIN"),
            TransactionStmtKind::TransStmtRollback => self.str("ROLLBACK"),
            TransactionStmtKind::TransStmtSavepoint => {
                self.str("SAVEPOINT ");
                self.col_id(stmt.savepoint_name())?;
            }
            TransactionStmtKind::TransStmtRelease => {
                self.str("RELEASE ");
                self.col_id(stmt.savepoint_name())?;
            }
            TransactionStmtKind::TransStmtRollbackTo => {
                self.str("ROLLBACK TO SAVEPOINT ");
                self.col_id(stmt.savepoint_name())?;
            }
            TransactionStmtKind::TransStmtPrepare => {
                self.str("PREPARE TRANSACTION ");
                self.sconst(stmt.gid())?;
            }
            TransactionStmtKind::TransStmtCommitPrepared => {
                self.str("COMMIT PREPARED ");
                self.sconst(stmt.gid())?;
            }
            TransactionStmtKind::TransStmtRollbackPrepared => {
                self.str("ROLLBACK PREPARED ");
                self.sconst(stmt.gid())?;
            }
        }
        self.trim();
        Ok(())
    }

    pub(in crate::deparse) fn variable_set_stmt(&mut self, stmt: VariableSetStmt<'_>) -> DeparseResult {
        match stmt.kind() {
            VariableSetKind::VarResetAll => {
                self.str("RESET ALL");
                return Ok(());
            }
            VariableSetKind::VarReset => self.str("RESET "),
            _ if stmt.is_local() => self.str("SET LOCAL "),
            _ => self.str("SET "),
        }
        let name = required(stmt.name(), "the name of a setting")?;
        match stmt.kind() {
            VariableSetKind::VarSetValue => self.set_value(name, stmt),
            // The grammar sets this flag if the text has a special syntax.
            VariableSetKind::VarSetDefault if name == "timezone" && stmt.jumble_args() => {
                self.str("TIME ZONE DEFAULT");
                Ok(())
            }
            VariableSetKind::VarSetDefault => {
                self.var_name(name);
                self.str(" TO DEFAULT");
                Ok(())
            }
            VariableSetKind::VarSetCurrent => {
                self.var_name(name);
                self.str(" FROM CURRENT");
                Ok(())
            }
            VariableSetKind::VarSetMulti => self.set_several(name, stmt.args()),
            VariableSetKind::VarReset | VariableSetKind::VarResetAll => {
                self.var_name(name);
                Ok(())
            }
        }
    }

    fn set_value(&mut self, name: &str, stmt: VariableSetStmt<'_>) -> DeparseResult {
        match name {
            "timezone" if stmt.jumble_args() => {
                self.str("TIME ZONE ");
                if let Some(zone) = zone_keyword(stmt.args()) {
                    self.string_literal(zone);
                    return Ok(());
                }
            }
            "xmloption" if stmt.jumble_args() => {
                self.str("XML OPTION ");
                match string_of(constant_of(stmt.args().first())?)? {
                    "DOCUMENT" => {
                        self.str("DOCUMENT ");
                        return Ok(());
                    }
                    "CONTENT" => {
                        self.str("CONTENT ");
                        return Ok(());
                    }
                    _ => {}
                }
            }
            _ => {
                self.var_name(name);
                self.str(" TO ");
            }
        }
        self.var_list(stmt.args())
    }

    /// SET TRANSACTION and SET SESSION CHARACTERISTICS.
    fn set_several(&mut self, name: &str, values: List<'_>) -> DeparseResult {
        match name {
            "TRANSACTION" => self.str("TRANSACTION "),
            "SESSION CHARACTERISTICS" => self.str("SESSION CHARACTERISTICS AS TRANSACTION "),
            "TRANSACTION SNAPSHOT" => {
                self.str("TRANSACTION SNAPSHOT ");
                self.string_literal(string_of(constant_of(values.first())?)?);
                return Ok(());
            }
            other => return Err(DeparseError::new(format!("SET has no form {other:?}"))),
        }
        self.transaction_mode_list(values)
    }

    pub(in crate::deparse) fn constraints_set_stmt(&mut self, stmt: ConstraintsSetStmt<'_>) -> DeparseResult {
        self.str("SET CONSTRAINTS ");
        if stmt.constraints().is_empty() {
            self.str("ALL");
        } else {
            self.qualified_name_list(stmt.constraints())?;
        }
        self.str(if stmt.deferred() { " DEFERRED" } else { " IMMEDIATE" });
        Ok(())
    }
}
