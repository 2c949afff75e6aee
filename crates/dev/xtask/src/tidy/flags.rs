//! Checks that structs do not have too many flags, because several flags often hide a type that is missing.

use std::collections::BTreeSet;

use syn::visit::Visit;

use crate::finding::Finding;
use crate::tree::Tree;

/// The folder whose structs are checked.
const FOLDER: &str = "crates/core/relay/src";
/// The most fields of a struct that can have only two values.
const FLAGS_MAX: usize = 6;

/// Finds structs with too many fields that can have only two values: `bool`, `Option<()>`, or an enum with two variants without
/// fields.
pub(super) fn of_structs(tree: &Tree) -> Vec<Finding> {
    let sources = || {
        let ours = tree.sources.iter().filter(|(path, _)| path.starts_with(FOLDER));
        ours.filter_map(|(path, source)| Some((path, source.syntax.as_ref().ok()?)))
    };
    let mut types = Types::default();
    sources().for_each(|(_, file)| types.visit_file(file));
    let mut findings = Vec::new();
    for (path, file) in sources() {
        let mut structs = Structs { pairs: &types.pairs, found: Vec::new() };
        structs.visit_file(file);
        findings.extend(structs.found.into_iter().map(|(line, name, flags)| {
            let what =
                format!("{name} has {} fields with only two values ({})", flags.len(), flags.join(", "));
            Finding::new(
                path,
                line,
                what,
                format!("at most {FLAGS_MAX} are allowed: replace some of them by a type"),
            )
        }));
    }
    findings
}

/// The names of enums with two variants without fields.
#[derive(Default)]
struct Types {
    pairs: BTreeSet<String>,
}

impl<'ast> Visit<'ast> for Types {
    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        if item.variants.len() == 2 && item.variants.iter().all(|variant| variant.fields.is_empty()) {
            self.pairs.insert(item.ident.to_string());
        }
    }
}

struct Structs<'a> {
    pairs: &'a BTreeSet<String>,
    found: Vec<(usize, String, Vec<String>)>,
}

impl Structs<'_> {
    fn has_two_values(&self, ty: &syn::Type) -> bool {
        let syn::Type::Path(path) = ty else { return false };
        let Some(last) = path.path.segments.last() else { return false };
        if last.ident == "Option" {
            let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else { return false };
            let unit = |argument: &syn::GenericArgument| matches!(argument, syn::GenericArgument::Type(syn::Type::Tuple(tuple)) if tuple.elems.is_empty());
            return arguments.args.iter().any(unit);
        }
        last.ident == "bool" || last.ident == "AtomicBool" || self.pairs.contains(&last.ident.to_string())
    }
}

impl<'ast> Visit<'ast> for Structs<'_> {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        let flags: Vec<String> = item
            .fields
            .iter()
            .filter(|field| self.has_two_values(&field.ty))
            .map(|field| field.ident.as_ref().map_or_else(|| "?".to_owned(), ToString::to_string))
            .collect();
        if flags.len() > FLAGS_MAX {
            self.found.push((item.ident.span().start().line, item.ident.to_string(), flags));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree;

    #[test]
    fn seven_flags_of_any_kind_are_too_many() {
        let flags = "a: bool, b: Option<()>, c: Side, d: bool, e: std::sync::atomic::AtomicBool, f: bool";
        let others = "g: Option<u8>, h: Three, i: u8, j: Data";
        let types = "enum Side { Left, Right }\nenum Three { A, B, C }\nenum Data { A(u8), B }";
        let text = format!(
            "{types}\nstruct Fits {{ {flags}, {others} }}\nstruct Full {{ {flags}, {others}, k: Side }}"
        );
        let (_folder, tree) = tree::of(&[("crates/core/relay/src/x.rs", &text)]);
        let found = of_structs(&tree);
        assert_eq!(found.len(), 1);
        assert!(found[0].what.starts_with("Full has 7 fields"), "{}", found[0]);
        assert_eq!(found[0].line, 5);
    }
}
