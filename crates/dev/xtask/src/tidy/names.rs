//! Checks for vague names such as `utils`. Such a file or folder collects unrelated code.

use std::path::Path;

use crate::finding::Finding;
use crate::tree::Tree;

const VAGUE: [&str; 6] = ["utils", "util", "common", "helpers", "helper", "misc"];

/// Finds folders and Rust files with a vague name.
pub(super) fn vague(tree: &Tree) -> Vec<Finding> {
    let sources = tree.sources.keys();
    tree.folders
        .iter()
        .chain(sources)
        .filter(|path| is_vague(path))
        .map(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            Finding::new(path, 1, format!("`{name}` says nothing"), "name it after what it is for")
        })
        .collect()
}

fn is_vague(path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| VAGUE.iter().any(|name| stem.eq_ignore_ascii_case(name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree;

    #[test]
    fn vague_folders_and_files_are_found() {
        let (_folder, tree) = tree::of(&[
            ("crates/a/src/utils.rs", ""),
            ("crates/a/src/common/x.rs", ""),
            ("crates/a/src/commonplace.rs", ""),
        ]);
        let found: Vec<_> = vague(&tree).into_iter().map(|finding| finding.file).collect();
        assert_eq!(found, [Path::new("crates/a/src/common"), Path::new("crates/a/src/utils.rs")]);
    }
}
