//! Checks sizes: files have at most 600 lines, and functions at most 70 unless a comment gives a reason.

use std::path::Path;

use syn::spanned::Spanned;
use syn::visit::Visit;

use crate::finding::Finding;
use crate::tree::Tree;

/// The most lines of a Rust file, including tests and comments.
const FILE_LINES_MAX: usize = 600;
/// The most lines of a function, from its signature to its closing brace.
const FUNCTION_LINES_MAX: usize = 70;
/// The beginning of the comment above a long function. The reason follows it.
const LONG_BECAUSE: &str = "// tidy: long because ";

/// Finds files that cannot be parsed, so that no check can read them.
pub(super) fn unparsed(tree: &Tree) -> Vec<Finding> {
    let broken = tree.sources.iter().filter_map(|(path, source)| Some((path, source.syntax.as_ref().err()?)));
    broken
        .map(|(path, error)| {
            Finding::new(path, error.span().start().line, format!("not Rust ({error})"), "correct it")
        })
        .collect()
}

/// Finds files that are too long.
pub(super) fn files(tree: &Tree) -> Vec<Finding> {
    let counted = tree.sources.iter().map(|(path, source)| (path, source.text.lines().count()));
    counted
        .filter(|(_, lines)| *lines > FILE_LINES_MAX)
        .map(|(path, lines)| {
            let what = format!("{lines} lines, {FILE_LINES_MAX} are allowed");
            Finding::new(
                path,
                FILE_LINES_MAX + 1,
                what,
                "move a part that can stand alone to a module of its own",
            )
        })
        .collect()
}

/// Finds functions that are too long and give no reason.
pub(super) fn functions(tree: &Tree) -> Vec<Finding> {
    let parsed =
        tree.sources.iter().filter_map(|(path, source)| Some((path, source, source.syntax.as_ref().ok()?)));
    parsed.flat_map(|(path, source, file)| file_functions(path, &source.text, file)).collect()
}

fn file_functions(path: &Path, text: &str, file: &syn::File) -> Vec<Finding> {
    let mut visitor = Visitor { path, lines: text.lines().collect(), findings: Vec::new() };
    visitor.visit_file(file);
    visitor.findings
}

struct Visitor<'a> {
    path: &'a Path,
    lines: Vec<&'a str>,
    findings: Vec<Finding>,
}

impl Visitor<'_> {
    fn look(&mut self, attributes: &[syn::Attribute], signature: &syn::Signature, block: &syn::Block) {
        let first = signature.span().start().line;
        let lines = block.span().end().line + 1 - first;
        let top = attributes.first().map_or(first, |attribute| attribute.span().start().line);
        if lines <= FUNCTION_LINES_MAX || self.says_why(top, first) {
            return;
        }
        let what = format!("fn {} has {lines} lines, {FUNCTION_LINES_MAX} are allowed", signature.ident);
        let remedy = format!("split it, or write `{LONG_BECAUSE}...` above it");
        self.findings.push(Finding::new(self.path, first, what, remedy));
    }

    /// Whether the comments above and among a function's attributes give a reason. `top` is the line of its first
    /// attribute or doc comment, `first` that of its signature.
    fn says_why(&self, top: usize, first: usize) -> bool {
        let above = self.lines[..top - 1].iter().rev().take_while(|line| line.trim_start().starts_with("//"));
        let among = &self.lines[top - 1..first - 1];
        above.chain(among).any(|line| {
            line.trim_start().strip_prefix(LONG_BECAUSE).is_some_and(|reason| !reason.trim().is_empty())
        })
    }
}

impl<'ast> Visit<'ast> for Visitor<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.look(&item.attrs, &item.sig, &item.block);
        syn::visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.look(&item.attrs, &item.sig, &item.block);
        syn::visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.look(&item.attrs, &item.sig, block);
        }
        syn::visit::visit_trait_item_fn(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree;

    fn function(above: &str, lines: usize) -> String {
        format!("{above}fn f() {{\n{}}}\n", "    g();\n".repeat(lines - 2))
    }

    fn found(text: &str) -> Vec<Finding> {
        file_functions(Path::new("x.rs"), text, &syn::parse_file(text).expect("Rust"))
    }

    #[test]
    fn a_function_of_70_lines_passes_and_one_of_71_does_not() {
        assert_eq!(found(&function("", 70)), []);
        let long = found(&function("\n\n", 71));
        assert_eq!(long.len(), 1);
        assert_eq!(long[0].line, 3);
        assert!(long[0].what.contains("71 lines"), "{}", long[0]);
    }

    #[test]
    fn a_long_function_with_its_reason_passes() {
        assert_eq!(found(&function("// tidy: long because it is a table\n", 90)), []);
        assert_eq!(found(&function("// tidy: long because it is a table\n/// Doc.\n#[inline]\n", 90)), []);
        assert_eq!(found(&function("/// Doc.\n// tidy: long because it is a table\n#[inline]\n", 90)), []);
    }

    #[test]
    fn an_empty_reason_or_one_at_another_place_does_not_count() {
        assert_eq!(found(&function("// tidy: long because \n", 90)).len(), 1);
        assert_eq!(found(&function("// tidy: long because it is a table\n\n", 90)).len(), 1);
    }

    #[test]
    fn methods_count_too() {
        let text = format!("impl X {{\n{}}}\ntrait Y {{\n{}}}\n", function("", 80), function("", 80));
        assert_eq!(found(&text).len(), 2);
    }

    #[test]
    fn long_files_and_broken_files_are_found() {
        let (_folder, tree) = tree::of(&[
            ("crates/a/src/lib.rs", &"//\n".repeat(601)),
            ("crates/a/src/fits.rs", &"//\n".repeat(600)),
            ("crates/a/src/broken.rs", "\nfn {"),
        ]);
        assert_eq!(files(&tree).len(), 1);
        let broken = unparsed(&tree);
        assert_eq!(broken.len(), 1);
        assert_eq!(broken[0].line, 2);
    }
}
