//! Parameters that an SQL text sets, or resets to their start-up values.

use trunkline_parser::classify::{Setting, SettingScope};
use trunkline_parser::node::{AConst, Boolean, Node, StringNode, VariableSetKind};
use trunkline_parser::references::Call;

use crate::carried::parameters::canonical_name;

/// A change of parameters by a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SettingChange {
    /// RESET, SET ... TO DEFAULT.
    ToDefault(Box<str>),
    /// SET LOCAL ... TO DEFAULT: until the transaction ends.
    ToDefaultLocally(Box<str>),
    /// SET LOCAL. It overrides a SET LOCAL ... TO DEFAULT before it in the same text.
    SetLocally(Box<str>),
    /// RESET ALL.
    ResetAll,
    /// DISCARD ALL.
    DiscardAll,
    /// SET. It overrides a reset before it in the same text.
    Set(Box<str>),
    /// COMMIT or ROLLBACK. Its answer says whether the changes before it stay.
    TransactionEnd,
    /// ROLLBACK TO. Some of the changes before it may be undone.
    RollbackToSavepoint,
}

/// The parameters that SET SESSION CHARACTERISTICS may set.
const CHARACTERISTICS: [&str; 3] =
    ["default_transaction_isolation", "default_transaction_read_only", "default_transaction_deferrable"];

impl SettingChange {
    /// The name of the parameter, if the change concerns only one.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::ToDefault(name)
            | Self::ToDefaultLocally(name)
            | Self::Set(name)
            | Self::SetLocally(name) => Some(name),
            Self::ResetAll | Self::DiscardAll | Self::TransactionEnd | Self::RollbackToSavepoint => None,
        }
    }

    /// A change of one parameter. `to_default`: it gets its default back. `is_local`: the change ends with the transaction.
    fn of(name: &str, to_default: bool, is_local: bool) -> Self {
        let name = canonical_name(name).into();
        match (to_default, is_local) {
            (true, false) => Self::ToDefault(name),
            (true, true) => Self::ToDefaultLocally(name),
            (false, false) => Self::Set(name),
            (false, true) => Self::SetLocally(name),
        }
    }

    /// The changes of a SET or RESET command.
    pub(super) fn of_setting(setting: Setting<'_>) -> Vec<Self> {
        let is_local = setting.scope == SettingScope::Transaction;
        match (setting.kind, setting.name) {
            (VariableSetKind::VarResetAll, _) => vec![Self::ResetAll],
            (VariableSetKind::VarSetMulti, Some("SESSION CHARACTERISTICS")) => {
                CHARACTERISTICS.map(|name| Self::Set(name.into())).into()
            }
            (VariableSetKind::VarReset, Some(name)) => vec![Self::of(name, true, false)],
            (VariableSetKind::VarSetDefault, Some(name)) => vec![Self::of(name, true, is_local)],
            (VariableSetKind::VarSetValue | VariableSetKind::VarSetCurrent, Some(name)) => {
                vec![Self::of(name, false, is_local)]
            }
            // SET TRANSACTION ends with the transaction.
            (VariableSetKind::VarSetMulti, _) | (_, None) => Vec::new(),
        }
    }

    /// The change of `set_config('name', value, is_local)`, if name, value and is_local are constants. The value NULL
    /// stands for the default.
    pub(super) fn of_call(call: &Call<'_>) -> Option<Self> {
        let mut arguments = call.node.args().nodes();
        let (name, value, is_local) = (arguments.next()?, arguments.next()?, arguments.next()?);
        let name = constant(name)??.cast::<StringNode<'_>>()?.sval();
        let is_local = constant(is_local)??.cast::<Boolean<'_>>()?.boolval();
        Some(Self::of(name, constant(value)?.is_none(), is_local))
    }
}

/// The value of a constant: `Some(None)` for NULL, `None` for an expression that is no constant.
fn constant(node: Node<'_>) -> Option<Option<Node<'_>>> {
    node.cast::<AConst<'_>>().map(AConst::val)
}
