//! Writes `views.rs`: a call of the macro `view!` for each node struct, and one call of `views!` for all of them. The
//! macros and all their unsafe code are in `raw/view.rs`.

use std::fmt::Write as _;

use pg_query_headers::{Field, Kind, Model, Struct};

use crate::names::{escape, getter_name, type_name, view_name};

/// Whether the view of a struct with a tag is written by hand: `List` and `Bitmapset`.
pub(crate) fn is_hand_written(name: &str) -> bool {
    matches!(name, "List" | "Bitmapset")
}

/// The text of `views.rs`.
pub(crate) fn text(model: &Model) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    for one in model.nodes().filter(|one| !is_hand_written(&one.name)) {
        push_view(&mut text, one);
    }
    text.push_str("views! {\n");
    for one in model.nodes().filter(|one| !is_hand_written(&one.name)) {
        let _ = writeln!(text, "    {} {},", type_name(&one.name), view_name(&one.name));
    }
    text.push_str("}\n");
    text
}

fn push_view(text: &mut String, one: &Struct) {
    let (view, tag) = (view_name(&one.name), type_name(&one.name));
    let _ = writeln!(text, "view! {{ {view} {tag} {} \"{}\" {{", one.name, one.name);
    for field in &one.fields {
        if let Some(getter) = getter(one, field) {
            let _ = writeln!(
                text,
                "    {getter} {} {} \"C: `{} {}`.\";",
                getter_name(&field.name),
                escape(&field.name),
                field.c_type,
                field.name
            );
        }
    }
    text.push_str("} }\n");
}

/// The arm of the macro `getter!` that reads a field; `None` for tags, and for untyped fields that only the planner
/// fills.
pub(crate) fn getter(one: &Struct, field: &Field) -> Option<String> {
    Some(match &field.kind {
        Kind::Tag | Kind::Datum | Kind::Cells | Kind::Void | Kind::Flexible(_) => return None,
        Kind::Bool => "copy(bool)".to_owned(),
        Kind::Char => "letter()".to_owned(),
        Kind::Int { bytes, signed } => format!("copy({}{})", if *signed { 'i' } else { 'u' }, bytes * 8),
        Kind::Long => "copy(i64)".to_owned(),
        Kind::Float => "copy(f64)".to_owned(),
        Kind::Location => "copy(i32)".to_owned(),
        Kind::Enum(name) => format!("constant({})", type_name(name)),
        Kind::Str if matches!(one.name.as_str(), "String" | "Float" | "BitString") => "content()".to_owned(),
        Kind::Str => "text()".to_owned(),
        Kind::Node => "node()".to_owned(),
        Kind::List => "list()".to_owned(),
        Kind::Bitmapset => "bits()".to_owned(),
        Kind::Pointer(name) => format!("view({})", view_name(name)),
        Kind::Embedded(name) if name == "ValUnion" => "value()".to_owned(),
        Kind::Embedded(name) if matches!(name.as_str(), "Expr" | "JsonTablePlan") => return None,
        Kind::Embedded(name) => format!("inner({})", view_name(name)),
    })
}
