//! Checks that every fuzz target is built and has a corpus. Without these, it finds nothing.

use std::path::{Path, PathBuf};

use crate::finding::Finding;
use crate::tree::Tree;

/// Every `fuzz/fuzz_targets/*.rs` is a `[[bin]]` of fuzz/Cargo.toml and has a file under `fuzz/corpus/<target>`.
pub(super) fn targets(tree: &Tree) -> Vec<Finding> {
    let manifest_path = Path::new("fuzz/Cargo.toml");
    let manifest: toml::Table = match tree.text(manifest_path).unwrap_or_default().parse() {
        Ok(manifest) => manifest,
        Err(error) => {
            return vec![Finding::new(manifest_path, 1, format!("not TOML ({error})"), "correct it")];
        }
    };
    let bins = bins(&manifest);
    let folder = Path::new("fuzz/fuzz_targets");
    let sources = tree.files.iter().filter(|path| path.parent() == Some(folder));
    let mut findings = Vec::new();
    for source in sources.clone() {
        let name = source.file_stem().unwrap_or_default().to_string_lossy();
        if !bins.iter().any(|(_, path)| path == source) {
            let remedy = format!("add a [[bin]] with path = \"fuzz_targets/{name}.rs\" to fuzz/Cargo.toml");
            findings.push(Finding::new(source, 1, "the fuzz target is never built", remedy));
        }
        if !tree.files.iter().any(|file| file.starts_with(Path::new("fuzz/corpus").join(&*name))) {
            let remedy = format!("put inputs worth starting from into fuzz/corpus/{name}/");
            findings.push(Finding::new(source, 1, "the fuzz target has no corpus", remedy));
        }
    }
    for (name, path) in &bins {
        if !tree.files.contains(path) {
            let what = format!("[[bin]] {name} has no source {}", path.display());
            findings.push(Finding::new(manifest_path, 1, what, "write it or take the entry out"));
        }
    }
    findings
}

/// Name and path, from the repository's root, of each binary of the fuzz crate.
fn bins(manifest: &toml::Table) -> Vec<(String, PathBuf)> {
    let bins = manifest.get("bin").and_then(toml::Value::as_array);
    bins.into_iter()
        .flatten()
        .filter_map(|bin| {
            let name = bin.get("name")?.as_str()?.to_owned();
            Some((name, Path::new("fuzz").join(bin.get("path")?.as_str()?)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree;

    const MANIFEST: &str = "[[bin]]\nname = \"frame\"\npath = \"fuzz_targets/frame.rs\"\n";

    #[test]
    fn a_target_with_entry_and_corpus_passes() {
        let files = [
            ("fuzz/Cargo.toml", MANIFEST),
            ("fuzz/fuzz_targets/frame.rs", ""),
            ("fuzz/corpus/frame/empty", ""),
        ];
        assert_eq!(targets(&tree::of(&files).1), []);
    }

    #[test]
    fn each_missing_part_is_found() {
        let no_corpus = [("fuzz/Cargo.toml", MANIFEST), ("fuzz/fuzz_targets/frame.rs", "")];
        assert_eq!(targets(&tree::of(&no_corpus).1).len(), 1);
        let no_entry = [("fuzz/fuzz_targets/frame.rs", ""), ("fuzz/corpus/frame/empty", "")];
        assert_eq!(targets(&tree::of(&no_entry).1).len(), 1);
        assert_eq!(targets(&tree::of(&[("fuzz/Cargo.toml", MANIFEST)]).1).len(), 1);
    }
}
