//! Where libpg_query's C source lies: in the folder of a crate that is fetched, and never built.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;
use crate::read::HEADERS;

/// The release of the crate `pg_query` whose C source is used.
pub const VERSION: &str = "18.1.0";

/// The environment variable that names the folder `libpg_query` outright, for builds that have no cargo
/// registry.
pub const SOURCE_VARIABLE: &str = "TRUNKLINE_PG_QUERY_SOURCE";

/// The marker cargo leaves in a registry folder once it is wholly unpacked.
const UNPACKED_MARKER: &str = ".cargo-ok";

/// Finds libpg_query's folder. To be called from a build script.
///
/// Looked at, in this order: [`SOURCE_VARIABLE`]; the neighbours of the package that is built (a registry's
/// or a vendored folder); cargo's registry; and after a `cargo fetch` of a project in `OUT_DIR` that depends
/// on nothing else, the registry again and whatever place cargo itself names.
///
/// # Errors
/// [`Error::NotFound`] says where it looked and what to do; [`Error::NotASource`] if the variable names a
/// folder that is none.
pub fn source() -> Result<PathBuf, Error> {
    if let Some(named) = env::var_os(SOURCE_VARIABLE) {
        let path = PathBuf::from(named);
        return match reason_against(&path) {
            None => Ok(path),
            Some(reason) => Err(Error::NotASource { path, reason }),
        };
    }
    let mut searched = Vec::new();
    let mut candidates = neighbours();
    candidates.extend(registry());
    if let Some(found) = first_usable(candidates, &mut searched) {
        return Ok(found);
    }
    let mut fetch = None;
    // A build script is not told of `--offline`: what cargo has already comes first. The settings of whoever
    // builds may stand above the target folder or, where that lies elsewhere, above the package.
    for network in [&["--offline"][..], &[]] {
        for settings in ["OUT_DIR", "CARGO_MANIFEST_DIR"] {
            match fetch_by_settings_of(settings, network) {
                Err(reason) => fetch = Some(reason),
                Ok(manifest_folder) => {
                    let mut candidates = registry();
                    candidates.extend(manifest_folder);
                    if let Some(found) = first_usable(candidates, &mut searched) {
                        return Ok(found);
                    }
                    fetch = Some("cargo fetched it to a place that was not found".to_owned());
                }
            }
        }
    }
    searched.sort();
    searched.dedup();
    Err(Error::NotFound { searched, fetch })
}

fn first_usable(packages: Vec<PathBuf>, searched: &mut Vec<PathBuf>) -> Option<PathBuf> {
    for package in packages {
        let usable = is_package(&package);
        let found = package.join("libpg_query");
        searched.push(package);
        if usable && reason_against(&found).is_none() {
            return Some(found);
        }
    }
    None
}

/// The folder's name with and without the version: a registry has the former, `cargo vendor` makes either.
fn neighbours() -> Vec<PathBuf> {
    let Some(built) = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from) else { return Vec::new() };
    let Some(parent) = built.parent() else { return Vec::new() };
    vec![parent.join(format!("pg_query-{VERSION}")), parent.join("pg_query")]
}

fn cargo_home() -> Option<PathBuf> {
    let home = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    home("CARGO_HOME")
        .or_else(|| home("HOME").or_else(|| home("USERPROFILE")).map(|home| home.join(".cargo")))
}

/// The package in each registry cargo has unpacked, by name so that the choice is always the same.
fn registry() -> Vec<PathBuf> {
    let Some(sources) = cargo_home().map(|home| home.join("registry").join("src")) else { return Vec::new() };
    let Ok(registries) = fs::read_dir(&sources) else { return vec![sources] };
    let mut found: Vec<PathBuf> =
        registries.flatten().map(|registry| registry.path().join(format!("pg_query-{VERSION}"))).collect();
    found.sort();
    found
}

/// Whether the folder is the package of our version, wholly unpacked. Vendored folders have a list of
/// checksums where a registry has its marker.
fn is_package(folder: &Path) -> bool {
    let complete = folder.join(UNPACKED_MARKER).exists() || folder.join(".cargo-checksum.json").exists();
    complete && fs::read_to_string(folder.join("Cargo.toml")).is_ok_and(|text| is_manifest(&text))
}

/// Whether a manifest is that of `pg_query` in our version.
fn is_manifest(text: &str) -> bool {
    let package = text.lines().skip_while(|line| line.trim() != "[package]").skip(1);
    let mut lines = package.take_while(|line| !line.starts_with('[')).map(|line| line.replace(' ', ""));
    let (mut name, mut version) = (false, false);
    lines.by_ref().for_each(|line| {
        name |= line == "name=\"pg_query\"";
        version |= line == format!("version=\"{VERSION}\"");
    });
    name && version
}

/// Why a folder is not libpg_query's source: the first header that is not there.
fn reason_against(folder: &Path) -> Option<String> {
    HEADERS
        .iter()
        .find(|header| !folder.join(header).is_file())
        .map(|header| format!("it has no file {header}"))
}

/// Lets cargo fetch the package by a project of our own, with the settings (source replacement, a proxy,
/// offline mode) that hold in the folder an environment variable names, and `network` as further arguments.
/// Returns where cargo says it is.
fn fetch_by_settings_of(variable: &str, network: &[&str]) -> Result<Option<PathBuf>, String> {
    let folder = |name: &str| {
        let found = env::var_os(name).map(PathBuf::from);
        found.ok_or_else(|| format!("{name} is not set: this is no build script"))
    };
    let (project, settings) = (folder("OUT_DIR")?.join("fetch"), folder(variable)?);
    let manifest = format!(
        "[package]\nname = \"fetch-pg-query\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[lib]\npath = \"lib.rs\"\n\n\
         [dependencies]\npg_query = \"={VERSION}\"\n\n[workspace]\n"
    );
    let manifest_path = project.join("Cargo.toml");
    let written = fs::create_dir_all(&project)
        .and_then(|()| fs::write(&manifest_path, manifest))
        .and_then(|()| fs::write(project.join("lib.rs"), ""));
    written.map_err(|error| format!("writing {}: {error}", project.display()))?;
    cargo(&settings, &manifest_path, &[&["fetch"], network].concat())?;
    let describe = [&["metadata", "--format-version", "1"], network].concat();
    let metadata = cargo(&settings, &manifest_path, &describe)?;
    Ok(manifest_folder(&metadata))
}

/// Runs cargo on a project, with the settings that hold in a folder, and returns what it wrote.
fn cargo(settings: &Path, manifest_path: &Path, arguments: &[&str]) -> Result<String, String> {
    let program = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(&program);
    command.args(arguments).arg("--manifest-path").arg(manifest_path).current_dir(settings);
    // Cargo hands its own settings for this build down to build scripts; these would mislead the one run here.
    for name in ["CARGO_TARGET_DIR", "CARGO_ENCODED_RUSTFLAGS", "CARGO_MAKEFLAGS", "RUSTC_WRAPPER", "RUSTC"] {
        command.env_remove(name);
    }
    let done = command.output().map_err(|error| format!("running {}: {error}", program.display()))?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    Err(format!("`cargo {}` in {}: {}", arguments.join(" "), settings.display(), said.trim()))
}

/// The folder of `pg_query` in what `cargo metadata` wrote, searched without a JSON reader: a package's
/// `manifest_path` is the only string there that ends in this way.
fn manifest_folder(metadata: &str) -> Option<PathBuf> {
    metadata.split("\"manifest_path\":\"").skip(1).find_map(|rest| {
        let path = PathBuf::from(rest.split('"').next()?.replace("\\\\", "\\"));
        let folder = path.parent()?.to_path_buf();
        is_package(&folder).then_some(folder)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_is_told_by_name_and_version_of_its_package() {
        let ours =
            format!("# x\n[package]\nedition = \"2021\"\nname = \"pg_query\"\nversion = \"{VERSION}\"\n");
        assert!(is_manifest(&ours));
        assert!(!is_manifest(&ours.replace(VERSION, "17.0.0")));
        assert!(!is_manifest(&ours.replace("pg_query", "pg_query2")));
        let of_a_dependency =
            format!("[package]\nname = \"pg_query\"\n[dependencies.x]\nversion = \"{VERSION}\"\n");
        assert!(!is_manifest(&of_a_dependency));
    }

    #[test]
    fn a_folder_without_the_marker_is_half_unpacked() -> std::io::Result<()> {
        let folder = env::temp_dir().join(format!("pg-query-headers-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        fs::write(
            folder.join("Cargo.toml"),
            format!("[package]\nname = \"pg_query\"\nversion = \"{VERSION}\"\n"),
        )?;
        assert!(!is_package(&folder));
        fs::write(folder.join(UNPACKED_MARKER), "")?;
        assert!(is_package(&folder));
        assert_eq!(reason_against(&folder), Some(format!("it has no file {}", HEADERS[0])));
        fs::remove_dir_all(&folder)
    }
}
