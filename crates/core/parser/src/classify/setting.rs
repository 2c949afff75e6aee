//! SET and RESET.

use super::Class;
use super::kind::{Access, Kind, TransactionModes};
use super::touches::Touches;
use super::transaction::modes;
use crate::node::*;

pub(super) fn class(stmt: VariableSetStmt<'_>) -> Class {
    let name = stmt.name().unwrap_or("");
    let scope = if stmt.is_local() { Touches::SET_LOCAL } else { Touches::NONE };
    let touches = match stmt.kind() {
        VariableSetKind::VarResetAll => Touches::RESET_ALL,
        VariableSetKind::VarSetMulti => match name {
            "TRANSACTION" | "TRANSACTION SNAPSHOT" => Touches::SET_TRANSACTION,
            // With LOCAL before it, this is only for the transaction.
            "SESSION CHARACTERISTICS" => Touches::SESSION_CHARACTERISTICS | scope,
            _ => Touches::UNKNOWN,
        },
        VariableSetKind::VarSetValue
        | VariableSetKind::VarSetDefault
        | VariableSetKind::VarSetCurrent
        | VariableSetKind::VarReset => touches_of_parameter(name, scope),
    };
    let modes = match stmt.kind() {
        VariableSetKind::VarSetMulti => modes(stmt.args()),
        _ => TransactionModes::default(),
    };
    Class { modes, ..Class::of(Kind::Set, Access::Session, touches) }
}

/// What SET of a parameter touches. As in PostgreSQL, names are case-insensitive.
fn touches_of_parameter(name: &str, scope: Touches) -> Touches {
    let is = |names: &[&str]| names.iter().any(|one| name.eq_ignore_ascii_case(one));
    if is(&["role", "session_authorization"]) {
        Touches::ROLE | scope
    } else if is(&["transaction_isolation", "transaction_read_only", "transaction_deferrable"]) {
        // These always end with the transaction, with or without LOCAL.
        Touches::SET_TRANSACTION | scope
    } else if scope.is_empty() {
        Touches::SET
    } else {
        scope
    }
}
