//! `cargo xtask package` and `cargo xtask publish`: cargo's commands of that name for every crate of ours that is
//! for others, with PostgreSQL's C in the package that compiles it.
//!
//! The repository has no source of others, and a `.crate` must have all that it is built of. So that C is put into a
//! folder that git ignores and that package's `include` names, for as long as cargo packages.

mod source;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The package that compiles libpg_query's source, and has it while cargo packages.
const COMPILES_C: &str = "crates/c/pg-query-sys";

/// Runs `cargo COMMAND ARGUMENTS` for all packages that are for others.
///
/// # Errors
/// When libpg_query's source is not found or not copied, or cargo fails: it has said why.
pub(crate) fn run(root: &Path, command: &str, arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let packages = published(root)?;
    let _gathered = Gathered::put(root)?;
    let mut cargo = Command::new(cargo());
    cargo.current_dir(root).args([command, "--locked"]).args(arguments);
    for package in &packages {
        cargo.args(["--package", package]);
    }
    let status = cargo.status()?;
    if !status.success() {
        return Err(format!("cargo {command} of {}: {status}", packages.join(", ")).into());
    }
    Ok(())
}

/// The cargo that runs this, or the one in the path.
fn cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// The workspace's packages that may be published, by name.
fn published(root: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let mut packages = Vec::new();
    for entry in walkdir::WalkDir::new(root.join("crates")).min_depth(3).max_depth(3).sort_by_file_name() {
        let path = entry?.into_path();
        if !path.ends_with("Cargo.toml") {
            continue;
        }
        let manifest: toml::Table = std::fs::read_to_string(&path)?.parse()?;
        packages.extend(published_name(&manifest).map(str::to_owned));
    }
    Ok(packages)
}

/// A manifest's name, if others may have the package: ours say `publish = true`, all else inherits `false`.
fn published_name(manifest: &toml::Table) -> Option<&str> {
    let package = manifest.get("package")?;
    let published = package.get("publish").is_some_and(|publish| publish.as_bool() == Some(true));
    package.get("name")?.as_str().filter(|_| published)
}

/// The gathered source, taken away again at the end: an ordinary build has no use for it.
struct Gathered(PathBuf);

impl Gathered {
    fn put(root: &Path) -> Result<Self, Box<dyn Error>> {
        let folder = root.join(COMPILES_C).join(pg_query_headers::PACKAGED);
        // What an earlier run that was killed has left.
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        let gathered = Self(folder);
        source::copy(&pg_query_headers::source()?, &gathered.0)?;
        Ok(gathered)
    }
}

impl Drop for Gathered {
    fn drop(&mut self) {
        // It may be there in part, or not at all. The next run removes what is left.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_says_so_is_published() -> Result<(), Box<dyn Error>> {
        let is_published = |text: &str| -> Result<bool, Box<dyn Error>> {
            let manifest = format!("[package]\nname = \"one\"\n{text}").parse()?;
            Ok(published_name(&manifest) == Some("one"))
        };
        assert!(is_published("publish = true")?);
        assert!(!is_published("publish = false")?);
        assert!(!is_published("publish.workspace = true")?);
        assert!(!is_published("")?);
        Ok(())
    }
}
