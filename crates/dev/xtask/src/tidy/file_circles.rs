//! Checks that no files of the relay or the pool use each other in a circle, not even through other files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::visit::Visit;

use super::circles::circles;
use crate::finding::Finding;
use crate::tree::Tree;

/// The folders with the sources of the checked crates.
const WATCHED: [&str; 2] = ["crates/core/relay/src", "crates/core/pool/src"];
/// How many re-exports of re-exports are followed.
const HOPS_MAX: usize = 8;

/// Finds circles of files. A file uses another if it names an item of that file. A re-export (`pub use`) is no use, and tests do not
/// count.
pub(super) fn of_uses(tree: &Tree) -> Vec<Finding> {
    WATCHED.iter().flat_map(|folder| of_crate(tree, Path::new(folder))).collect()
}

fn of_crate(tree: &Tree, folder: &Path) -> Vec<Finding> {
    let mut modules = Modules::default();
    for (path, source) in &tree.sources {
        if let (Ok(inside), Ok(file)) = (path.strip_prefix(folder), &source.syntax) {
            let mut names = Names { module: module_of(inside), ..Names::default() };
            names.visit_file(file);
            modules.0.insert(names.module.clone(), (path.clone(), names));
        }
    }
    let uses = modules.uses();
    let names: BTreeMap<&str, Vec<&str>> =
        uses.iter().map(|(file, used)| (file.as_str(), used.iter().map(String::as_str).collect())).collect();
    let found = circles(&names).into_iter().map(|circle| {
        let what = format!("{} files use each other in a circle ({})", circle.len(), circle.join(", "));
        let remedy = "move what both need to a file that needs neither";
        Finding::new(Path::new(circle[0]), 1, what, remedy)
    });
    found.collect()
}

/// The path of a file's module below its crate's root.
fn module_of(inside: &Path) -> Vec<String> {
    let mut parts: Vec<String> =
        inside.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if parts.last().is_some_and(|last| last == "mod" || last == "lib") {
        parts.pop();
    }
    parts
}

/// The names in one file.
#[derive(Default)]
struct Names {
    module: Vec<String>,
    /// The items that it defines.
    items: BTreeSet<String>,
    /// Its re-exports: the name, and the path of the item.
    re_exports: BTreeMap<String, Vec<String>>,
    /// The paths in its crate that it names.
    used: Vec<Vec<String>>,
}

impl Names {
    /// The path below the crate's root; `None` if it leads out of the crate or stays in the file.
    fn absolute(&self, path: &[String]) -> Option<Vec<String>> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some([&self.module, rest].concat()),
            "super" => {
                let above = path.iter().take_while(|part| *part == "super").count();
                let kept = self.module.len().checked_sub(above)?;
                Some([&self.module[..kept], &path[above..]].concat())
            }
            _ => None,
        }
    }

    fn add_use(&mut self, before: &[String], tree: &syn::UseTree, is_re_export: bool) {
        match tree {
            syn::UseTree::Path(path) => {
                self.add_use(&[before, &[path.ident.to_string()]].concat(), &path.tree, is_re_export);
            }
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|item| self.add_use(before, item, is_re_export));
            }
            syn::UseTree::Name(name) => self.add_name(before, &name.ident, &name.ident, is_re_export),
            syn::UseTree::Rename(rename) => {
                self.add_name(before, &rename.ident, &rename.rename, is_re_export);
            }
            syn::UseTree::Glob(_) => {}
        }
    }

    fn add_name(&mut self, before: &[String], name: &syn::Ident, known_as: &syn::Ident, is_re_export: bool) {
        let last = if name == "self" { None } else { Some(name.to_string()) };
        let path: Vec<String> = before.iter().cloned().chain(last).collect();
        if is_re_export {
            // The path of an own module may begin without `self`.
            let path = self.absolute(&path).unwrap_or_else(|| [&self.module[..], &path].concat());
            self.re_exports.insert(known_as.to_string(), path);
        } else {
            self.used.extend(self.absolute(&path));
        }
    }
}

fn is_of_tests(attributes: &[syn::Attribute]) -> bool {
    let names_test = |list: &syn::MetaList| list.tokens.to_string() == "test";
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) => list.path.is_ident("cfg") && names_test(list),
        _ => false,
    })
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let (name, attributes) = match item {
            syn::Item::Struct(item) => (Some(&item.ident), &item.attrs),
            syn::Item::Enum(item) => (Some(&item.ident), &item.attrs),
            syn::Item::Fn(item) => (Some(&item.sig.ident), &item.attrs),
            syn::Item::Const(item) => (Some(&item.ident), &item.attrs),
            syn::Item::Static(item) => (Some(&item.ident), &item.attrs),
            syn::Item::Type(item) => (Some(&item.ident), &item.attrs),
            syn::Item::Trait(item) => (Some(&item.ident), &item.attrs),
            syn::Item::Mod(item) => (None, &item.attrs),
            syn::Item::Impl(item) => (None, &item.attrs),
            syn::Item::Use(item) => (None, &item.attrs),
            _ => return syn::visit::visit_item(self, item),
        };
        if !is_of_tests(attributes) {
            self.items.extend(name.map(ToString::to_string));
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let is_re_export = !matches!(item.vis, syn::Visibility::Inherited);
        self.add_use(&[], &item.tree, is_re_export);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts: Vec<String> = path.segments.iter().map(|part| part.ident.to_string()).collect();
        if parts.len() > 1 {
            self.used.extend(self.absolute(&parts));
        }
        syn::visit::visit_path(self, path);
    }
}

/// All files of a crate by their modules.
#[derive(Default)]
struct Modules(BTreeMap<Vec<String>, (PathBuf, Names)>);

impl Modules {
    /// Which files each file uses.
    fn uses(&self) -> BTreeMap<String, BTreeSet<String>> {
        let of_file = |(path, names): &(PathBuf, Names)| {
            let used = names.used.iter().filter_map(|used| self.file_of(used, HOPS_MAX));
            let others = used.filter(|used| *used != path).map(|used| used.display().to_string());
            (path.display().to_string(), others.collect())
        };
        self.0.values().map(of_file).collect()
    }

    /// The file of the item that a path names.
    fn file_of(&self, path: &[String], hops: usize) -> Option<&PathBuf> {
        // The longest beginning of the path that is a module. After it comes an item, and perhaps an item of that item.
        let length = (0..=path.len()).rev().find(|length| self.0.contains_key(&path[..*length]))?;
        let (file, names) = self.0.get(&path[..length])?;
        let Some(item) = path.get(length) else { return Some(file) };
        match names.re_exports.get(item) {
            Some(from) if hops > 0 && !names.items.contains(item) => {
                self.file_of(&[from, &path[length + 1..]].concat(), hops - 1)
            }
            _ => Some(file),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<_> =
            files.iter().map(|(name, text)| (format!("crates/core/relay/src/{name}"), *text)).collect();
        let files: Vec<_> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
        let (_folder, tree) = tree::of(&files);
        of_uses(&tree).into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn circles_through_other_files_and_re_exports_are_found() {
        let circle = found(&[
            ("lib.rs", "mod a; mod b; pub use a::A; pub use b::{B, C as D};"),
            ("a.rs", "use crate::b::helper; pub struct A; fn f() { helper() }"),
            ("b/mod.rs", "mod c; pub use c::B; pub use c::helper;"),
            ("b/c.rs", "pub fn helper() { let _ = crate::d::D; } pub struct B;"),
            ("d.rs", "use crate::{A, other}; pub struct D;"),
        ]);
        assert_eq!(circle.len(), 1, "{circle:?}");
        for file in ["a.rs", "b/c.rs", "d.rs"] {
            assert!(circle[0].contains(file) && circle[0].starts_with("3 files"), "{circle:?}");
        }
    }

    #[test]
    fn files_without_circles_pass() {
        let none = found(&[
            ("lib.rs", "mod a; mod b; pub use a::A;"),
            ("a.rs", "use super::b::B; pub struct A(B); #[cfg(test)] mod tests { use super::*; }"),
            (
                "b.rs",
                "pub struct B; impl B { fn f(&self) -> Self { Self } } #[cfg(test)] mod tests { use crate::A; }",
            ),
        ]);
        assert_eq!(none, Vec::<String>::new());
    }
}
