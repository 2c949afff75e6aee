//! The repository for the checks: every file's path, and the Rust sources, which are read and parsed once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

/// Folders with build results, fetched files or git's data. They are never read.
const SKIPPED: [&str; 8] =
    ["target", ".git", ".trunkline", "node_modules", ".venv", "__pycache__", "artifacts", "libpg_query"];

/// A Rust source file.
pub(crate) struct Source {
    /// The whole text.
    pub(crate) text: String,
    /// Its syntax tree, or the parser's error.
    pub(crate) syntax: Result<syn::File, syn::Error>,
}

/// A snapshot of the repository. Paths are relative to its root.
pub(crate) struct Tree {
    /// The root itself, for checks that read a file of their own.
    pub(crate) root: PathBuf,
    /// Every folder.
    pub(crate) folders: Vec<PathBuf>,
    /// Every file.
    pub(crate) files: Vec<PathBuf>,
    /// Every `.rs` file.
    pub(crate) sources: BTreeMap<PathBuf, Source>,
}

impl Tree {
    /// Walks the repository and parses its Rust files.
    ///
    /// # Errors
    /// When a folder or a Rust source cannot be read. A source that does not parse is no error here (see [`Source`]).
    pub(crate) fn read(root: &Path) -> std::io::Result<Self> {
        let mut tree = Self {
            root: root.to_path_buf(),
            folders: Vec::new(),
            files: Vec::new(),
            sources: BTreeMap::new(),
        };
        for entry in WalkDir::new(root).sort_by_file_name().into_iter().filter_entry(is_ours) {
            let entry = entry?;
            let Ok(path) = entry.path().strip_prefix(root).map(Path::to_path_buf) else { continue };
            if path.as_os_str().is_empty() {
                continue;
            }
            if entry.file_type().is_dir() {
                tree.folders.push(path);
                continue;
            }
            if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(entry.path())?;
                let syntax = syn::parse_file(&text);
                tree.sources.insert(path.clone(), Source { text, syntax });
            }
            tree.files.push(path);
        }
        Ok(tree)
    }

    /// A file's text, or `None` if the file does not exist or cannot be read.
    pub(crate) fn text(&self, path: &Path) -> Option<String> {
        std::fs::read_to_string(self.root.join(path)).ok()
    }

    /// The manifests of all crates: every `Cargo.toml` except the workspace's own.
    pub(crate) fn manifests(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.iter().filter(|path| path.ends_with("Cargo.toml") && path.components().count() > 1)
    }
}

fn is_ours(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    // The root itself may be in a folder with such a name, for example in a test.
    entry.depth() == 0 || !(entry.file_type().is_dir() && SKIPPED.contains(&name.as_ref()))
}

/// A repository made of the given files in a temporary folder, for the checks' own tests.
#[cfg(test)]
pub(crate) fn of(files: &[(&str, &str)]) -> (tempfile::TempDir, Tree) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        std::fs::write(path, text).expect("a file");
    }
    let tree = Tree::read(folder.path()).expect("a tree");
    (folder, tree)
}
