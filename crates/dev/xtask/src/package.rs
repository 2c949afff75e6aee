//! `cargo xtask package` and `cargo xtask publish`: they run cargo's command of the same name for every published crate.
//!
//! A `.crate` must contain everything that its build needs, but the repository contains no source of other projects. So PostgreSQL's
//! C is copied into the package that compiles it while cargo runs. The folder is ignored by git, and named in the package's `include`.

mod source;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The package that compiles libpg_query's source and contains it while cargo packages.
const COMPILES_C: &str = "crates/c/pg-query-sys";

/// Runs `cargo COMMAND ARGUMENTS` for all published packages.
///
/// # Errors
/// When libpg_query's source is not found or cannot be copied, or cargo fails (cargo has then printed why).
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

/// The cargo that runs this program, or the one in the PATH.
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

/// The name of a manifest's package if it is published. Published packages say `publish = true`; all others inherit `false`.
fn published_name(manifest: &toml::Table) -> Option<&str> {
    let package = manifest.get("package")?;
    let published = package.get("publish").is_some_and(|publish| publish.as_bool() == Some(true));
    package.get("name")?.as_str().filter(|_| published)
}

/// The folder with the copied source. Dropping it removes the folder, because an ordinary build does not need it.
struct Gathered(PathBuf);

impl Gathered {
    fn put(root: &Path) -> Result<Self, Box<dyn Error>> {
        let folder = root.join(COMPILES_C).join(pg_query_headers::PACKAGED);
        // An earlier run that was killed may have left the folder.
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
        // If the folder cannot be removed completely, the next run removes the rest.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_packages_that_say_so_are_published() -> Result<(), Box<dyn Error>> {
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
