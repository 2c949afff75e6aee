//! Writes `edits.rs`: a call of the macro `view_mut!` for each node struct, and one call of `sizes!` for all of them.
//! The macros are in `raw/edit/view_mut.rs`.

use std::fmt::Write as _;

use pg_query_headers::{Model, Struct};

use crate::names::{escape, getter_name, type_name, view_name};
use crate::views::{getter, is_hand_written};

/// The text of `edits.rs`.
pub(crate) fn text(model: &Model) -> String {
    let mut text = String::new();
    for one in model.nodes().filter(|one| !is_hand_written(&one.name)) {
        push_view(&mut text, one);
    }
    text.push_str("sizes! {\n");
    for one in model.nodes().filter(|one| !is_hand_written(&one.name)) {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "    {} {},", type_name(&one.name), one.name);
    }
    text.push_str("}\n");
    text
}

fn push_view(text: &mut String, one: &Struct) {
    let name = type_name(&one.name);
    let view = view_name(&one.name);
    let _ = writeln!(text, "view_mut! {{ {view}Mut {view} {name} {} \"{}\" {{", one.name, one.name);
    for field in &one.fields {
        let Some(getter) = getter(one, field) else { continue };
        // If a field always holds one type of node, its getter returns that type's view.
        let kind = getter.replace("view(", "view_mut(").replace("inner(", "inner_mut(").replace(
            ')',
            if getter.starts_with("view(") || getter.starts_with("inner(") { "Mut)" } else { ")" },
        );
        // When the grammar sets one of these two fields, it also sets a third one.
        let is_limit =
            one.name == "SelectStmt" && matches!(field.name.as_str(), "limitCount" | "limitOffset");
        let kind = if is_limit { "limit()".to_owned() } else { kind };
        let getter = getter_name(&field.name);
        let bare = getter.trim_start_matches("r#");
        let _ = writeln!(
            text,
            "    {kind} set_{bare} {}_mut into_{bare} {} \"C: `{} {}`.\";",
            bare.trim_end_matches('_'),
            escape(&field.name),
            field.c_type,
            field.name
        );
    }
    text.push_str("} }\n");
}
