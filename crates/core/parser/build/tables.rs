//! Writes `tables.rs`: for each node its fields with kind and offset, and its links to other nodes.

use std::fmt::Write as _;

use pg_query_headers::{Field, Kind, Model, Struct, Tag};

use crate::names::type_name;
use crate::views::is_hand_written;

/// The text of `tables.rs`: `ENUMS` and `NODES`, whose types are in `raw/fields.rs`.
pub(crate) fn text(model: &Model) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let last = model.tags.iter().map(|tag| tag.value).max().unwrap_or(0);
    let is_list = |tag: &&Tag| matches!(tag.name.as_str(), "List" | "IntList" | "OidList");
    let lists: Vec<u32> = model.tags.iter().filter(is_list).map(|tag| tag.value).collect();
    let _ = writeln!(text, "static NODES: [NodeInfo; {}] = [", last + 1);
    for number in 0..=last {
        match model.nodes().find(|one| one.tag == Some(number) && !is_hand_written(&one.name)) {
            Some(one) => push_node(&mut text, model, one),
            None if lists.contains(&number) => text.push_str("    NodeInfo::LIST,\n"),
            None => text.push_str("    NodeInfo::NONE,\n"),
        }
    }
    text.push_str("];\n");
    text
}

fn push_node(text: &mut String, model: &Model, one: &Struct) {
    let _ = writeln!(text, "    // {}\n    NodeInfo {{ is_list: false, fields: &[", one.name);
    for field in &one.fields {
        push_field(text, field);
    }
    text.push_str("    ], links: &[");
    push_links(text, model, one, 0);
    text.push_str("] },\n");
}

/// Writes a field as a `FieldInfo`. Writes nothing for a field that no view has.
pub(crate) fn push_field(text: &mut String, field: &Field) {
    if let Some(kind) = kind(field) {
        let _ = writeln!(
            text,
            "        FieldInfo {{ quoted: \"\\\"{}\\\":\", offset: {}, kind: FieldKind::{kind}, equal_ignore: {} }},",
            field.name, field.offset, field.equal_ignore
        );
    }
}

/// Writes the links of a struct. The links of an embedded struct take its place.
fn push_links(text: &mut String, model: &Model, one: &Struct, base: usize) {
    for field in &one.fields {
        let kind = match &field.kind {
            // The columns of `(a, b, c) = row` share the row.
            Kind::Node if one.name == "MultiAssignRef" => "Row",
            Kind::Node | Kind::Pointer(_) => "Node",
            Kind::List => "List",
            Kind::Embedded(name) if name == "ValUnion" => "Value",
            Kind::Embedded(name) => {
                // Structs such as `Expr` have no links.
                if let Some(inner) = model.find_struct(name) {
                    push_links(text, model, inner, base + field.offset);
                }
                continue;
            }
            _ => continue,
        };
        let _ = write!(
            text,
            "Link {{ offset: {}, field: \"{}\", kind: LinkKind::{kind} }}, ",
            base + field.offset,
            field.name
        );
    }
}

/// The field's variant of `FieldKind`; `None` for a field that no view has.
fn kind(field: &Field) -> Option<String> {
    Some(match &field.kind {
        Kind::Tag | Kind::Datum | Kind::Cells | Kind::Void | Kind::Flexible(_) => return None,
        Kind::Bool => "Bool".to_owned(),
        Kind::Char => "Char".to_owned(),
        Kind::Int { bytes: 2, .. } => "Int16".to_owned(),
        Kind::Int { bytes: 4, signed: true } => "Int".to_owned(),
        Kind::Int { bytes: 4, signed: false } => "UInt".to_owned(),
        Kind::Int { signed: true, .. } | Kind::Long => "Long".to_owned(),
        Kind::Int { signed: false, .. } => "ULong".to_owned(),
        Kind::Float => "Float".to_owned(),
        Kind::Location => "Location".to_owned(),
        Kind::Enum(name) => format!("Enum(&{}::INFO)", type_name(name)),
        Kind::Str => "Str".to_owned(),
        Kind::Node => "Node".to_owned(),
        Kind::List => "List".to_owned(),
        Kind::Bitmapset => "Bitmapset".to_owned(),
        Kind::Pointer(name) => format!("View(NodeTag::{})", type_name(name)),
        Kind::Embedded(name) if name == "ValUnion" => "Value".to_owned(),
        Kind::Embedded(name) if matches!(name.as_str(), "Expr" | "JsonTablePlan") => return None,
        Kind::Embedded(name) => format!("Inner(NodeTag::{})", type_name(name)),
    })
}
