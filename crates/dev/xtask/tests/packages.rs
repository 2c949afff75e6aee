//! The packages that others get: what is in them, and that they build where there is nothing else.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

/// What the registry takes at most: crates.io's limit for a `.crate`.
const CRATE_BYTES_MAX: u64 = 10 * 1024 * 1024;
/// What a user of the parser must not need: the crate that its C comes from, and what that is built with.
const NOT_NEEDED: [&str; 4] = ["pg_query", "bindgen", "clang-sys", "prost"];
const PROGRAM: &str = r#"
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tree = trunkline_parser::parse("SELECT name FROM people WHERE id IN (1, 2)")?;
    println!("{} {}", tree.references().relations()[0].name, tree.deparse()?);
    Ok(())
}
"#;

/// The packages, made once for all tests here: one after the other, they would need the same folder.
static PACKAGES: LazyLock<Packages> = LazyLock::new(|| Packages::make().expect("cargo xtask package"));

struct Packages {
    folder: TempDir,
    /// File names without `.crate`.
    names: BTreeSet<String>,
}

impl Packages {
    fn make() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let mut xtask = Command::new(env!("CARGO_BIN_EXE_xtask"));
        xtask.args(["package", "--allow-dirty", "--no-verify", "--target-dir"]).arg(folder.path());
        output(&mut xtask)?;
        let mut names = BTreeSet::new();
        for entry in fs::read_dir(folder.path().join("package"))? {
            let path = entry?.path();
            if path.extension() == Some(OsStr::new("crate")) {
                let name = path.file_stem().and_then(OsStr::to_str).context("a name")?.to_owned();
                output(Command::new("tar").arg("xzf").arg(&path).arg("-C").arg(folder.path()))?;
                names.insert(name);
            }
        }
        Ok(Self { folder, names })
    }

    /// A package as its users get it.
    fn unpacked(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// Runs a command; what it said, if it failed.
fn output(command: &mut Command) -> Result<String> {
    let Output { status, stdout, stderr } = command.output().with_context(|| format!("{command:?}"))?;
    ensure!(status.success(), "{command:?}: {status}\n{}", String::from_utf8_lossy(&stderr));
    Ok(String::from_utf8(stdout)?)
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn cargo() -> Command {
    Command::new(env!("CARGO"))
}

#[test]
fn every_package_carries_the_licences() -> Result<()> {
    for name in &PACKAGES.names {
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let packaged = fs::read_to_string(PACKAGES.unpacked(name).join(licence))
                .with_context(|| format!("{name} has no {licence}"))?;
            ensure!(
                packaged == fs::read_to_string(repository().join(licence))?,
                "{licence} of {name} is another"
            );
        }
        let bytes = fs::metadata(PACKAGES.folder.path().join(format!("package/{name}.crate")))?.len();
        ensure!(bytes <= CRATE_BYTES_MAX, "{name}: {bytes} bytes");
    }
    Ok(())
}

#[test]
fn the_package_with_postgresqls_c_carries_its_notices_too() -> Result<()> {
    let with_c: Vec<PathBuf> = PACKAGES.names.iter().map(|name| PACKAGES.unpacked(name)).collect();
    let with_c: Vec<&PathBuf> = with_c.iter().filter(|folder| folder.join("libpg_query").exists()).collect();
    ensure!(with_c.len() == 1, "{with_c:?}");
    let text = |file: &str| fs::read_to_string(with_c[0].join(file)).with_context(|| file.to_owned());
    ensure!(text("LICENSE-POSTGRESQL")?.contains("The Regents of the University of California"));
    ensure!(text("LICENSE-LIBPG_QUERY")?.contains("Lukas Fittl"));
    ensure!(
        text("Cargo.toml")?.contains(r#"license = "(MIT OR Apache-2.0) AND PostgreSQL AND BSD-3-Clause""#)
    );
    // Packaging takes away again what it put into the checkout.
    ensure!(!repository().join("crates/c/pg-query-sys/libpg_query").exists());
    Ok(())
}

/// A program that depends on the parser as the registry would give it, with the ordinary crates vendored beside:
/// what a distribution's builders have, and those of documentation.
struct User {
    folder: TempDir,
}

impl User {
    fn new() -> Result<Self> {
        let user = Self { folder: tempfile::tempdir()? };
        user.write("src/main.rs", PROGRAM)?;
        user.vendor()?;
        Ok(user)
    }

    fn write(&self, path: &str, text: &str) -> Result<()> {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().context("a folder")?)?;
        Ok(fs::write(path, text)?)
    }

    /// Our packages stand in for the registry's twice: as patches, while cargo finds out what else is needed, and as
    /// vendored folders for the build.
    fn vendor(&self) -> Result<()> {
        let manifest = "[package]\nname = \"user\"\nversion = \"1.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
                        [dependencies]\ntrunkline-parser = \"0.1.0\"\n";
        let mut patches = "\n[patch.crates-io]\n".to_owned();
        for name in &PACKAGES.names {
            let (package, _) = name.rsplit_once('-').context("a version")?;
            patches += &format!("{package} = {{ path = \"{}\" }}\n", PACKAGES.unpacked(name).display());
        }
        self.write("Cargo.toml", &format!("{manifest}{patches}"))?;
        // The versions that the workspace has too: those are fetched.
        fs::copy(repository().join("Cargo.lock"), self.folder.path().join("Cargo.lock"))?;
        output(cargo().arg("vendor").current_dir(self.folder.path()))?;
        for name in &PACKAGES.names {
            let vendored = self.folder.path().join("vendor").join(name);
            output(Command::new("cp").arg("-r").arg(PACKAGES.unpacked(name)).arg(&vendored))?;
            fs::write(vendored.join(".cargo-checksum.json"), r#"{"files":{}}"#)?;
        }
        self.write("Cargo.toml", manifest)?;
        fs::remove_file(self.folder.path().join("Cargo.lock"))?;
        self.write(
            ".cargo/config.toml",
            "[source.crates-io]\nreplace-with = \"vendored\"\n[source.vendored]\ndirectory = \"vendor\"\n",
        )
    }

    /// Cargo with a home that is empty, no network and nothing of this machine's settings but the compilers' place.
    fn cargo(&self) -> Command {
        let home = self.folder.path().join("home");
        let programs = Path::new(env!("CARGO")).parent().unwrap_or(Path::new("/")).display();
        let mut cargo = Command::new("unshare");
        cargo.args(["--map-root-user", "--net", env!("CARGO")]).current_dir(self.folder.path()).env_clear();
        cargo.env("PATH", format!("{programs}:/usr/local/bin:/usr/bin:/bin")).env("HOME", &home);
        cargo.env("CARGO_HOME", home.join("cargo")).env("CARGO_NET_OFFLINE", "true");
        cargo
    }

    /// The names of all packages it needs.
    fn packages(&self) -> Result<Vec<String>> {
        let lock: toml::Table = fs::read_to_string(self.folder.path().join("Cargo.lock"))?.parse()?;
        let packages = lock.get("package").and_then(toml::Value::as_array).context("no packages")?;
        Ok(packages.iter().filter_map(|one| Some(one.get("name")?.as_str()?.to_owned())).collect())
    }
}

#[test]
#[ignore = "compiles PostgreSQL's C once more: make suites"]
fn a_user_of_the_parser_builds_without_a_network() -> Result<()> {
    let user = User::new()?;
    let said = output(user.cargo().args(["run", "--quiet"]))?;
    assert_eq!(said, "people SELECT name FROM people WHERE id IN (1, 2)\n");
    let packages = user.packages()?;
    println!("{} packages: {}", packages.len(), packages.join(", "));
    for name in NOT_NEEDED {
        ensure!(!packages.iter().any(|package| package.starts_with(name)), "{name} is needed: {packages:?}");
    }
    // Nothing was fetched behind cargo's back either.
    ensure!(!user.folder.path().join("home/cargo/registry").exists(), "cargo's home has a registry");
    Ok(())
}

#[test]
#[ignore = "vendors crates for every target: make suites"]
fn a_package_without_its_c_says_how_it_is_made() -> Result<()> {
    let user = User::new()?;
    let with_c = PACKAGES.names.iter().find(|name| PACKAGES.unpacked(name).join("libpg_query").exists());
    let vendored = user.folder.path().join("vendor").join(with_c.context("no package has C")?);
    fs::remove_dir_all(vendored.join("libpg_query"))?;
    let error = output(user.cargo().arg("build")).expect_err("there is no C to build");
    ensure!(error.to_string().contains("made without it: make it by `cargo xtask package`"), "{error}");
    Ok(())
}
