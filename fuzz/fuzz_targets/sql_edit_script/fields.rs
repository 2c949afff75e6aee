//! Edits of all fields of a node that the field tables list.

use trunkline_parser::edit::{EditError, Fragment, NewValue, NodeMut};
use trunkline_parser::node::FieldKind;

use super::{Script, change_list, make};

/// Changes one field of the node. The script says which.
pub fn change(mut node: NodeMut<'_>, script: &mut Script<'_>, fragment: Fragment) -> Result<(), EditError> {
    let fields: Vec<_> = node.settable().collect();
    let Some(field) = fields.get(script.below(fields.len())) else { return Ok(()) };
    let (name, kind) = (field.name(), field.kind());
    if let FieldKind::List = kind {
        return change_list(node.list_mut(name)?, script, fragment);
    }
    let value = match kind {
        FieldKind::Node | FieldKind::View(_) => {
            NewValue::Node((!script.byte().is_multiple_of(8)).then_some(fragment))
        }
        FieldKind::Str => NewValue::Str((!script.byte().is_multiple_of(8)).then(|| script.text())),
        FieldKind::Bool => NewValue::Bool(script.byte().is_multiple_of(2)),
        FieldKind::Char => NewValue::Char(char::from(script.byte())),
        FieldKind::Value => NewValue::Constant(make::constant(script)),
        FieldKind::Float => NewValue::Float(f64::from(script.byte())),
        FieldKind::Enum(_) => NewValue::Int(i64::from(script.byte().cast_signed())),
        _ => NewValue::Int(number(script)),
    };
    node.set(name, value)
}

fn number(script: &mut Script<'_>) -> i64 {
    match script.byte() % 8 {
        0 => i64::from(i32::MAX),
        1 => i64::from(i32::MIN),
        2 => 1 << (script.byte() % 31),
        _ => i64::from(script.byte().cast_signed()),
    }
}
