//! Where libpg_query's C source lies: in our package, or for a checkout in a crate that is fetched and never built.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;
use crate::read::HEADERS;

/// The release of the crate `pg_query` whose C source is used. The parity tests compare with the same one.
pub const VERSION: &str = "18.1.0";

/// The environment variable that names the folder `libpg_query` outright, for builds that have no cargo
/// registry.
pub const SOURCE_VARIABLE: &str = "TRUNKLINE_PG_QUERY_SOURCE";

/// The folder in the package that is built where packaging has put libpg_query's source (`cargo xtask package`).
pub const PACKAGED: &str = "libpg_query";

/// The file that cargo adds to every `.crate`: a checkout has none.
const MARK_OF_A_PACKAGE: &str = "Cargo.toml.orig";

/// The marker cargo leaves in a registry folder once it is wholly unpacked.
const UNPACKED_MARKER: &str = ".cargo-ok";

/// Finds libpg_query's folder. To be called from the build script of the package that has it, or will have it:
/// other packages are told by that one.
///
/// Looked at, in this order: [`SOURCE_VARIABLE`]; [`PACKAGED`] in the package that is built. In a checkout, which
/// has no source of others, then: cargo's registry; the registry after cargo was asked for that one crate, of
/// which it fetches nothing else; where cargo says that the workspace's own dependency lies (a vendored folder).
///
/// # Errors
/// [`Error::NotFound`] says where it looked and what to do; [`Error::NotASource`] if the variable names a
/// folder that is none, or the package was made without it.
pub fn source() -> Result<PathBuf, Error> {
    if let Some(named) = env::var_os(SOURCE_VARIABLE) {
        return usable(PathBuf::from(named));
    }
    let built = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    let packaged = built.join(PACKAGED);
    if packaged.exists() {
        return usable(packaged);
    }
    if built.join(MARK_OF_A_PACKAGE).exists() {
        let reason = "this package was made without it: make it by `cargo xtask package`".to_owned();
        return Err(Error::NotASource { path: packaged, reason });
    }
    let mut searched = Vec::new();
    if let Some(found) = first_usable(registry(), &mut searched) {
        return Ok(found);
    }
    let mut fetch = None;
    // A build script is not told of `--offline`: what cargo has already comes first. The settings of the user who
    // builds may stand above the target folder or, where that lies elsewhere, above the package.
    for network in [&["--offline"][..], &[]] {
        for settings in ["OUT_DIR", "CARGO_MANIFEST_DIR"] {
            let asked = ask_cargo(settings, network);
            if let Some(found) = first_usable(registry(), &mut searched) {
                return Ok(found);
            }
            fetch = asked.err().or(fetch);
        }
    }
    let vendored = dependency_of(&built).unwrap_or_default();
    if let Some(found) = first_usable(vendored.into_iter().collect(), &mut searched) {
        return Ok(found);
    }
    searched.sort();
    searched.dedup();
    Err(Error::NotFound { searched, fetch })
}

fn usable(path: PathBuf) -> Result<PathBuf, Error> {
    match reason_against(&path) {
        None => Ok(path),
        Some(reason) => Err(Error::NotASource { path, reason }),
    }
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

/// Has cargo unpack the crate into its registry, with the settings (source replacement, a proxy, offline mode)
/// that hold in the folder an environment variable names. To tell of a crate cargo downloads that one alone: a
/// `cargo fetch` would bring the 90 others that building it needs.
fn ask_cargo(settings: &str, network: &[&str]) -> Result<(), String> {
    let folder =
        env::var_os(settings).ok_or_else(|| format!("{settings} is not set: this is no build script"))?;
    let named = format!("pg_query@{VERSION}");
    cargo(Path::new(&folder), &[&["info", "--quiet", "--locked", &named], network].concat()).map(drop)
}

/// Where cargo says that the dependency `pg_query` of a package's workspace lies.
fn dependency_of(package: &Path) -> Result<Option<PathBuf>, String> {
    let described = cargo(package, &["metadata", "--format-version", "1", "--locked", "--offline"])?;
    Ok(manifest_folder(&described))
}

/// Runs cargo in a folder and returns what it wrote.
fn cargo(folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let program = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(&program);
    command.args(arguments).current_dir(folder);
    // Cargo hands its own settings for this build down to build scripts; these would mislead the one run here.
    for name in ["CARGO_TARGET_DIR", "CARGO_ENCODED_RUSTFLAGS", "CARGO_MAKEFLAGS", "RUSTC_WRAPPER", "RUSTC"] {
        command.env_remove(name);
    }
    let done = command.output().map_err(|error| format!("running {}: {error}", program.display()))?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    Err(format!("`cargo {}` in {}: {}", arguments.join(" "), folder.display(), said.trim()))
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
