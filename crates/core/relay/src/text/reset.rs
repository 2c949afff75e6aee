//! Parameters that a command sets, or resets to their start-up values.

use trunkline_parser::classify::{Setting, SettingScope};
use trunkline_parser::node::{AConst, Boolean, Node, StringNode, VariableSetKind};
use trunkline_parser::references::Call;

use crate::carried::parameters::canonical_name;

/// A parameter is given a value, or its start-up value back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reset {
    /// RESET, SET ... TO DEFAULT.
    Parameter(Box<str>),
    /// SET LOCAL ... TO DEFAULT: until the transaction ends.
    LocalDefault(Box<str>),
    /// SET LOCAL: a SET LOCAL ... TO DEFAULT before it in the same text has no effect on it.
    LocalSet(Box<str>),
    /// RESET ALL.
    All,
    /// DISCARD ALL.
    Session,
    /// SET: a reset before it in the same text has no effect on it.
    Set(Box<str>),
    /// COMMIT or ROLLBACK: what becomes of the resets before it is known when it is answered.
    End,
    /// ROLLBACK TO: of the resets before it some may be undone.
    EndOfPart,
}

/// What SET SESSION CHARACTERISTICS may set.
const CHARACTERISTICS: [&str; 3] =
    ["default_transaction_isolation", "default_transaction_read_only", "default_transaction_deferrable"];

impl Reset {
    /// The parameter that it is of, if it is of one.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Parameter(name) | Self::LocalDefault(name) | Self::Set(name) | Self::LocalSet(name) => {
                Some(name)
            }
            Self::All | Self::Session | Self::End | Self::EndOfPart => None,
        }
    }

    /// Of a parameter: whether it gets its default back, and whether that ends with the transaction.
    fn of(name: &str, to_default: bool, is_local: bool) -> Self {
        let name = canonical_name(name).into();
        match (to_default, is_local) {
            (true, false) => Self::Parameter(name),
            (true, true) => Self::LocalDefault(name),
            (false, false) => Self::Set(name),
            (false, true) => Self::LocalSet(name),
        }
    }

    /// Of SET and RESET.
    pub(super) fn of_setting(setting: Setting<'_>) -> Vec<Self> {
        let is_local = setting.scope == SettingScope::Transaction;
        match (setting.kind, setting.name) {
            (VariableSetKind::VarResetAll, _) => vec![Self::All],
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

    /// Of `set_config('name', value, is_local)`, where the name is written out, and the value where it is NULL: that stands
    /// for the default.
    pub(super) fn of_call(call: &Call<'_>) -> Option<Self> {
        let mut arguments = call.node.args().nodes();
        let (name, value, is_local) = (arguments.next()?, arguments.next()?, arguments.next()?);
        let name = constant(name)??.cast::<StringNode<'_>>()?.sval();
        let is_local = constant(is_local)??.cast::<Boolean<'_>>()?.boolval();
        Some(Self::of(name, constant(value)?.is_none(), is_local))
    }
}

/// A constant's value: of NULL nothing, of another expression not even that.
fn constant(node: Node<'_>) -> Option<Option<Node<'_>>> {
    node.cast::<AConst<'_>>().map(AConst::val)
}
