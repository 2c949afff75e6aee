//! Transaction control and its modes.

use super::Class;
use super::kind::{Access, Isolation, Kind, TransactionControl, TransactionModes};
use super::touches::Touches;
use crate::node::*;

pub(super) fn class(stmt: TransactionStmt<'_>) -> Class {
    use TransactionStmtKind::*;
    let chains = stmt.chain();
    let control = match stmt.kind() {
        TransStmtBegin | TransStmtStart => TransactionControl::Begin,
        TransStmtCommit if chains => TransactionControl::CommitAndChain,
        TransStmtCommit => TransactionControl::Commit,
        TransStmtRollback if chains => TransactionControl::RollbackAndChain,
        TransStmtRollback => TransactionControl::Rollback,
        TransStmtSavepoint => TransactionControl::Savepoint,
        TransStmtRelease => TransactionControl::Release,
        TransStmtRollbackTo => TransactionControl::RollbackTo,
        TransStmtPrepare => TransactionControl::Prepare,
        TransStmtCommitPrepared => TransactionControl::CommitPrepared,
        TransStmtRollbackPrepared => TransactionControl::RollbackPrepared,
    };
    let (access, touches) = match control {
        TransactionControl::Prepare => (Access::Maintain, Touches::TWO_PHASE),
        TransactionControl::CommitPrepared | TransactionControl::RollbackPrepared => {
            (Access::Maintain, Touches::TWO_PHASE | Touches::NO_BLOCK)
        }
        _ => (Access::Read, Touches::NONE),
    };
    let class = Class::of(Kind::Transaction, access, touches | Touches::TRANSACTION);
    Class { transaction: Some(control), modes: modes(stmt.options()), ..class }
}

/// The modes in a list of options.
pub(super) fn modes(options: List<'_>) -> TransactionModes {
    let mut modes = TransactionModes::default();
    for option in options.nodes().filter_map(|node| node.cast::<DefElem<'_>>()) {
        let value = option.arg().and_then(|node| node.cast::<AConst<'_>>()).and_then(AConst::val);
        let is_on = || value.and_then(|value| value.cast::<Integer<'_>>()).map(|value| value.ival() != 0);
        match option.defname() {
            Some("transaction_isolation") => {
                modes.isolation = value
                    .and_then(|value| value.cast::<StringNode<'_>>())
                    .and_then(|name| isolation(name.sval()));
            }
            Some("transaction_read_only") => modes.read_only = is_on(),
            Some("transaction_deferrable") => modes.deferrable = is_on(),
            _ => {}
        }
    }
    modes
}

fn isolation(name: &str) -> Option<Isolation> {
    Some(match name {
        "read uncommitted" => Isolation::ReadUncommitted,
        "read committed" => Isolation::ReadCommitted,
        "repeatable read" => Isolation::RepeatableRead,
        "serializable" => Isolation::Serializable,
        _ => return None,
    })
}
