//! `unsafe` is where ARCHITECTURE.md says, and nowhere else.

use syn::visit::Visit;

use crate::finding::Finding;
use crate::tree::Tree;

/// Folders that may have it, each because C is on the other side.
const FOLDERS: &[&str] = &[
    // PostgreSQL's parser and its tree.
    "crates/c/pg-query-sys",
    "crates/core/parser/src/raw",
    // Functions that C calls.
    "crates/c/codec",
    "crates/c/ffi",
    // The oracle calls libpg_query.
    "crates/dev/parity",
    // So does what is measured beside ours.
    "crates/dev/bench-parser",
];

/// What is unsafe elsewhere.
pub(super) fn elsewhere(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, source) in &tree.sources {
        let Ok(file) = &source.syntax else { continue };
        if FOLDERS.iter().any(|folder| path.starts_with(folder)) {
            continue;
        }
        let mut places = Places::default();
        places.visit_file(file);
        findings.extend(places.lines.into_iter().map(|line| {
            let remedy = "do without, or move it to where ARCHITECTURE.md allows it (xtask, unsafety.rs)";
            Finding::new(path, line, "unsafe", remedy)
        }));
    }
    findings
}

#[derive(Default)]
struct Places {
    lines: Vec<usize>,
}

impl Places {
    fn note(&mut self, unsafety: Option<&syn::Token![unsafe]>) {
        self.lines.extend(unsafety.map(|token| token.span.start().line));
    }
}

impl<'ast> Visit<'ast> for Places {
    fn visit_expr_unsafe(&mut self, block: &'ast syn::ExprUnsafe) {
        self.note(Some(&block.unsafe_token));
        syn::visit::visit_expr_unsafe(self, block);
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        if let syn::Safety::Unsafe(token) = &signature.safety {
            self.note(Some(token));
        }
        syn::visit::visit_signature(self, signature);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        self.note(item.unsafety.as_ref());
        syn::visit::visit_item_impl(self, item);
    }

    fn visit_item_foreign_mod(&mut self, item: &'ast syn::ItemForeignMod) {
        self.note(item.unsafety.as_ref());
        syn::visit::visit_item_foreign_mod(self, item);
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if attribute.path().is_ident("unsafe") {
            self.lines.push(attribute.pound_token.span.start().line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree;

    #[test]
    fn it_is_found_in_each_form_and_allowed_where_c_is() {
        let text = "unsafe fn a() {}\nfn b() { unsafe { a() } }\nunsafe impl Send for C {}\nunsafe extern \"C\" {}\n#[unsafe(no_mangle)]\nfn d() {}\n";
        let (_folder, tree) =
            tree::of(&[("crates/io/x/src/lib.rs", text), ("crates/c/codec/src/lib.rs", text)]);
        let found = elsewhere(&tree);
        assert!(found.iter().all(|finding| finding.file.starts_with("crates/io/x")));
        assert_eq!(found.iter().map(|finding| finding.line).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    }
}
