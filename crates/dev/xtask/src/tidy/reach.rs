//! Finds dead files: Rust sources that no crate reaches by `mod` and that are no target of cargo.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use syn::visit::Visit;

use crate::finding::Finding;
use crate::tree::Tree;

/// Folders whose direct `.rs` files and `*/main.rs` are targets of cargo by default.
const TARGET_FOLDERS: [&str; 4] = ["src/bin", "tests", "examples", "benches"];
/// Files that are targets of cargo by default.
const TARGET_FILES: [&str; 3] = ["src/lib.rs", "src/main.rs", "build.rs"];
/// Manifest keys that may name a target's file.
const TARGET_KEYS: [&str; 4] = ["bin", "test", "example", "bench"];

/// Finds Rust files inside a crate that no target contains.
pub(super) fn dead_files(tree: &Tree) -> Vec<Finding> {
    let mut reached = BTreeSet::new();
    let mut crates: Vec<&Path> = tree.manifests().filter_map(|manifest| manifest.parent()).collect();
    crates.sort_by_key(|folder| folder.components().count());
    for folder in &crates {
        for root in roots(tree, folder) {
            reach(tree, &root, true, &mut reached);
        }
    }
    let inside = tree.sources.keys().filter(|path| crates.iter().any(|folder| path.starts_with(folder)));
    inside
        .filter(|path| !reached.contains(*path))
        .map(|path| {
            Finding::new(path, 1, "no `mod` reaches this file", "declare it where it belongs, or delete it")
        })
        .collect()
}

/// The files that cargo compiles as targets of the crate in `folder`.
fn roots(tree: &Tree, folder: &Path) -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> = TARGET_FILES.iter().map(|file| folder.join(file)).collect();
    for source in tree.sources.keys() {
        let is_target = TARGET_FOLDERS.iter().map(|name| folder.join(name)).any(|targets| {
            let parent = source.parent();
            parent == Some(&targets)
                || (source.ends_with("main.rs") && parent.and_then(Path::parent) == Some(&targets))
        });
        if is_target {
            roots.push(source.clone());
        }
    }
    let manifest: toml::Table =
        tree.text(&folder.join("Cargo.toml")).and_then(|text| text.parse().ok()).unwrap_or_default();
    let listed = TARGET_KEYS.iter().filter_map(|key| manifest.get(*key)?.as_array()).flatten();
    let one = ["lib", "package"].iter().filter_map(|key| manifest.get(*key));
    let named = listed.chain(one).flat_map(|target| [target.get("path"), target.get("build")]);
    roots.extend(named.flatten().filter_map(toml::Value::as_str).map(|path| folder.join(path)));
    roots
}

/// Adds `file` and the files that it declares. `is_root`: its submodules are in its own folder, like those of a `mod.rs`.
fn reach(tree: &Tree, file: &Path, is_root: bool, reached: &mut BTreeSet<PathBuf>) {
    let file = normal(file);
    let Some(source) = tree.sources.get(&file) else { return };
    if !reached.insert(file.clone()) {
        return;
    }
    let Ok(syntax) = &source.syntax else { return };
    let beside = file.parent().unwrap_or(Path::new("")).to_path_buf();
    let under = if is_root || file.ends_with("mod.rs") { beside.clone() } else { file.with_extension("") };
    let mut visitor = Declarations { beside, under, found: Vec::new() };
    visitor.visit_file(syntax);
    for (candidate, is_root) in visitor.found {
        reach(tree, &candidate, is_root, reached);
    }
}

/// Collects the files that a source declares by `mod` or includes by `include!`.
struct Declarations {
    /// The folder at which a `#[path]` begins: the file's own.
    beside: PathBuf,
    /// The folder of its submodules.
    under: PathBuf,
    /// The candidates: a path, and whether its submodules are in its own folder.
    found: Vec<(PathBuf, bool)>,
}

impl<'ast> Visit<'ast> for Declarations {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let name = item.ident.to_string();
        if item.content.is_some() {
            self.under.push(&name);
            syn::visit::visit_item_mod(self, item);
            self.under.pop();
        } else if let Some(path) = path_attribute(&item.attrs) {
            self.found.push((self.beside.join(path), true));
        } else {
            self.found.push((self.under.join(format!("{name}.rs")), false));
            self.found.push((self.under.join(name).join("mod.rs"), true));
        }
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        if let (true, Ok(file)) = (mac.path.is_ident("include"), mac.parse_body::<syn::LitStr>()) {
            self.found.push((self.beside.join(file.value()), true));
        }
    }
}

fn path_attribute(attributes: &[syn::Attribute]) -> Option<String> {
    attributes.iter().find(|attribute| attribute.path().is_ident("path")).and_then(|attribute| {
        let syn::Meta::NameValue(pair) = &attribute.meta else { return None };
        let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(path), .. }) = &pair.value else { return None };
        Some(path.value())
    })
}

/// Changes `a/b/../c` to `a/c`, because the tree has paths in this form only.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                normal.pop();
            }
            std::path::Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree;

    fn dead(files: &[(&str, &str)]) -> Vec<String> {
        let (_folder, tree) = tree::of(files);
        dead_files(&tree).iter().map(|finding| finding.file.display().to_string()).collect()
    }

    #[test]
    fn files_can_be_declared_in_every_way() {
        let files = [
            ("crates/a/Cargo.toml", "[[bench]]\nname = \"b\"\npath = \"speed/b.rs\"\n"),
            (
                "crates/a/src/lib.rs",
                "mod one; mod two; mod inline { mod three; } #[path = \"odd.rs\"] mod four;",
            ),
            ("crates/a/src/one.rs", "mod below;"),
            ("crates/a/src/one/below.rs", ""),
            ("crates/a/src/two/mod.rs", "mod beside;"),
            ("crates/a/src/two/beside.rs", ""),
            ("crates/a/src/inline/three.rs", ""),
            ("crates/a/src/odd.rs", ""),
            ("crates/a/src/bin/tool.rs", ""),
            ("crates/a/tests/suite/main.rs", "mod case;"),
            ("crates/a/tests/suite/case.rs", ""),
            ("crates/a/speed/b.rs", ""),
            ("crates/a/build.rs", "include!(\"src/../shared.rs\");"),
            ("crates/a/shared.rs", ""),
        ];
        assert_eq!(dead(&files), Vec::<String>::new());
    }

    #[test]
    fn undeclared_files_are_dead() {
        let files = [
            ("crates/a/Cargo.toml", ""),
            ("crates/a/src/lib.rs", "// mod gone;"),
            ("crates/a/src/gone.rs", ""),
            ("crates/a/tests/suite/case.rs", ""),
            ("integration/notes.rs", "outside every crate"),
        ];
        assert_eq!(dead(&files), ["crates/a/src/gone.rs", "crates/a/tests/suite/case.rs"]);
    }
}
