//! Writes `fingerprint.rs`: for each node the fields that are part of its fingerprint, in their order.

use std::fmt::Write as _;

use pg_query_headers::{Kind, Model, Struct};

use crate::tables::push_field;
use crate::views::is_hand_written;

/// Fields that libpg_query leaves out, besides locations in the text: names that differ from run to run, and fields
/// that repeat another field.
const LEFT_OUT: &[(&str, &str)] = &[
    ("ClosePortalStmt", "portalname"),
    ("CreateFunctionStmt", "options"),
    ("CreateRoleStmt", "role"),
    ("CreateTableSpaceStmt", "location"),
    ("DeallocateStmt", "name"),
    ("DeclareCursorStmt", "portalname"),
    ("DoStmt", "args"),
    ("ExecuteStmt", "name"),
    ("FetchStmt", "portalname"),
    ("FunctionParameter", "name"),
    ("JsonTablePath", "value"),
    ("ListenStmt", "conditionname"),
    ("NotifyStmt", "conditionname"),
    ("NotifyStmt", "payload"),
    ("PrepareStmt", "name"),
    ("RenameStmt", "newname"),
    ("RenameStmt", "subname"),
    ("RoleSpec", "rolename"),
    ("TransactionStmt", "gid"),
    ("TransactionStmt", "savepoint_name"),
    ("UnlistenStmt", "conditionname"),
    ("VariableSetStmt", "jumble_args"),
];

/// Nodes that are not part of the fingerprint: literals and parameters, so that statements that differ only in them
/// have the same fingerprint; and aliases.
const IGNORED: &[&str] = &["A_Const", "Alias", "ParamRef", "SetToDefault"];

/// The text of `fingerprint.rs`: `FINGERPRINT`, whose types are in `raw/fields.rs`.
pub(crate) fn text(model: &Model) -> String {
    let mut text = String::new();
    let last = model.tags.iter().map(|tag| tag.value).max().unwrap_or(0);
    // Writing to a String cannot fail.
    let _ = writeln!(text, "static FINGERPRINT: [&[FieldInfo]; {}] = [", last + 1);
    for number in 0..=last {
        text.push_str("    &[\n");
        let counts = |one: &Struct| !is_hand_written(&one.name) && !IGNORED.contains(&one.name.as_str());
        if let Some(one) = model.nodes().find(|one| one.tag == Some(number) && counts(one)) {
            push_fields(&mut text, model, one);
        }
        text.push_str("    ],\n");
    }
    text.push_str("];\n");
    let _ = writeln!(text, "static IGNORED_BY_FINGERPRINT: &[NodeTag] = &[");
    for name in IGNORED {
        let _ = writeln!(text, "    NodeTag::{},", crate::names::type_name(name));
    }
    text.push_str("];\n");
    text
}

fn push_fields(text: &mut String, model: &Model, one: &Struct) {
    let mut fields: Vec<_> = one.fields.iter().collect();
    fields.sort_by(|a, b| a.name.cmp(&b.name));
    for field in fields {
        if LEFT_OUT.contains(&(one.name.as_str(), field.name.as_str())) {
            continue;
        }
        match &field.kind {
            Kind::Location => {}
            // The only embedded node is at the beginning of its struct. Its fields take its place.
            Kind::Embedded(inner) if field.name == "base" => {
                if let Some(inner) = model.find_struct(inner) {
                    push_fields(text, model, inner);
                }
            }
            _ => push_field(text, field),
        }
    }
}
