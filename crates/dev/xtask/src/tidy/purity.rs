//! Checks that the sources of `core` do no I/O: bytes and `now` are arguments. Its sources may not even name modules for I/O.

use std::path::Path;

use syn::spanned::Spanned;
use syn::visit::Visit;

use crate::finding::Finding;
use crate::tree::Tree;

/// Paths that core may not name, and what to do instead. A path of `std` is found by its beginning, any other by its end.
const FORBIDDEN: &[(&[&str], &str)] = &[
    (&["std", "net"], "sockets belong to crates/io; address types come from core::net"),
    (&["std", "fs"], "files belong to crates/io: take the bytes as an argument"),
    (&["std", "thread"], "threads belong to crates/io"),
    (&["std", "process"], "processes belong to crates/io"),
    (&["std", "env"], "settings are arguments here: crates/io reads the environment"),
    (&["std", "os"], "the operating system belongs to crates/io"),
    (&["Instant", "now"], "take `now: Instant` as an argument"),
    (&["SystemTime", "now"], "take `now` as an argument"),
];

/// Checks every file under `crates/core/*/src`; items under `#[cfg(test)]` do not count.
pub(super) fn sources(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, source) in &tree.sources {
        let shipped = path.components().nth(3).is_some_and(|part| part.as_os_str() == "src");
        if let (true, true, Ok(file)) = (path.starts_with("crates/core"), shipped, &source.syntax) {
            findings.extend(file_findings(path, file));
        }
    }
    findings
}

fn file_findings(path: &Path, file: &syn::File) -> Vec<Finding> {
    let mut visitor = Visitor { path, findings: Vec::new() };
    visitor.visit_file(file);
    visitor.findings
}

struct Visitor<'a> {
    path: &'a Path,
    findings: Vec<Finding>,
}

impl Visitor<'_> {
    fn look(&mut self, path: &[String], line: usize) {
        for (forbidden, remedy) in FORBIDDEN {
            let is = |part: &[String]| part.iter().zip(*forbidden).all(|(have, want)| have == want);
            let found = if forbidden.first() == Some(&"std") {
                path.len() >= forbidden.len() && is(path)
            } else {
                path.len() >= forbidden.len() && is(&path[path.len() - forbidden.len()..])
            };
            if found {
                let what = format!("core names `{}`", path.join("::"));
                self.findings.push(Finding::new(self.path, line, what, *remedy));
            }
        }
    }

    fn look_at_use(&mut self, tree: &syn::UseTree, before: &mut Vec<String>) {
        match tree {
            syn::UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.look_at_use(&path.tree, before);
                before.pop();
            }
            syn::UseTree::Name(name) => self.look_at_use_end(&name.ident, before),
            syn::UseTree::Rename(rename) => self.look_at_use_end(&rename.ident, before),
            syn::UseTree::Glob(glob) => self.look(before, glob.span().start().line),
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.look_at_use(tree, before);
                }
            }
        }
    }

    fn look_at_use_end(&mut self, name: &syn::Ident, before: &mut Vec<String>) {
        let line = name.span().start().line;
        if name == "self" {
            return self.look(before, line);
        }
        before.push(name.to_string());
        self.look(before, line);
        before.pop();
    }
}

impl<'ast> Visit<'ast> for Visitor<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            syn::visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) {
            syn::visit::visit_item_fn(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if !is_test(&item.attrs) {
            self.look_at_use(&item.tree, &mut Vec::new());
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.look(&names, path.span().start().line);
        syn::visit::visit_path(self, path);
    }
}

/// Whether an item is compiled for tests only: `#[test]`, `#[cfg(test)]` or `#[cfg(all(test, ..))]`.
fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let mut test = attribute.path().is_ident("test");
        if attribute.path().is_ident("cfg") {
            // A part with a value (`feature = ".."`) ends the parse, but a `test` before it was already seen.
            let _ = attribute.parse_nested_meta(|meta| {
                test |= meta.path.is_ident("test");
                if meta.path.is_ident("all") {
                    meta.parse_nested_meta(|meta| {
                        test |= meta.path.is_ident("test");
                        Ok(())
                    })?;
                }
                Ok(())
            });
        }
        test
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        let file = syn::parse_file(text).expect("Rust");
        file_findings(Path::new("x.rs"), &file).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn io_is_found_in_uses_and_paths() {
        assert_eq!(lines("use std::net::TcpStream;"), [1]);
        assert_eq!(lines("\nuse std::{time::Duration, fs::{self, File}};"), [2, 2]);
        assert_eq!(lines("use std::thread;"), [1]);
        assert_eq!(lines("fn f() {\n std::thread::spawn(|| ());\n}"), [2]);
        assert_eq!(lines("fn f() -> Instant {\n Instant::now()\n}"), [2]);
        assert_eq!(lines("fn f() { let _ = std::time::SystemTime::now(); }"), [1]);
    }

    #[test]
    fn pure_code_passes() {
        let text =
            "use std::time::{Duration, Instant};\nuse core::net::IpAddr;\nfn f(now: Instant) {}\nfn now() {}";
        assert_eq!(lines(text), Vec::<usize>::new());
    }

    #[test]
    fn tests_do_not_count() {
        assert_eq!(lines("#[cfg(test)]\nmod tests { use std::thread; }"), Vec::<usize>::new());
        assert_eq!(lines("#[cfg(all(test, unix))]\nmod tests { use std::fs; }"), Vec::<usize>::new());
        assert_eq!(lines("#[cfg(any(test, unix))]\nmod tests { use std::fs; }").len(), 1);
        assert_eq!(lines("#[cfg(not(test))]\nmod tests { use std::fs; }").len(), 1);
    }
}
