//! Writes `enums.rs`: a Rust enum for each C enum, and the enum of all node tags.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use pg_query_headers::{Enum, Model};

use crate::names::{type_name, variant_name};

/// The text of `enums.rs`. The macros that it calls are in `raw/enums.rs`.
pub(crate) fn text(model: &Model) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    for one in &model.enums {
        push_enum(&mut text, one);
    }
    push_tags(&mut text, model);
    text
}

fn push_enum(text: &mut String, one: &Enum) {
    let _ = writeln!(text, "node_enum! {{ {} \"{}\" {{", type_name(&one.name), one.name);
    // If two constants have the same value (one is an alias), only the first becomes a variant.
    let mut seen = Vec::new();
    for constant in &one.constants {
        if !seen.contains(&constant.value) {
            seen.push(constant.value);
            let _ = writeln!(
                text,
                "    {} = {} \"{}\",",
                variant_name(&constant.name),
                constant.value,
                constant.name
            );
        }
    }
    text.push_str("} }\n");
}

fn push_tags(text: &mut String, model: &Model) {
    let by_number: BTreeMap<u32, &str> =
        model.tags.iter().map(|tag| (tag.value, tag.name.as_str())).collect();
    text.push_str("node_tags! {\n");
    let last = by_number.keys().next_back().copied().unwrap_or(0);
    for number in 1..=last {
        // A number without a tag gets a name that says so, so that the table has no gap.
        let (name, c) = match by_number.get(&number) {
            Some(name) => (type_name(name), (*name).to_owned()),
            None => (format!("Unused{number}"), format!("Unused{number}")),
        };
        let _ = writeln!(text, "    {name} = {number} \"{c}\",");
    }
    text.push_str("}\n");
}
