//! Tests of the published packages: their contents, and that they build without anything else.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

/// The largest `.crate` that crates.io accepts.
const CRATE_BYTES_MAX: u64 = 10 * 1024 * 1024;
/// Crates that a user of the parser must not need: the crate from which its C comes, and that crate's build dependencies.
const NOT_NEEDED: [&str; 4] = ["pg_query", "bindgen", "clang-sys", "prost"];
const PROGRAM: &str = r#"
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tree = trunkline_parser::parse("SELECT name FROM people WHERE id IN (1, 2)")?;
    println!("{} {}", tree.references().relations()[0].name, tree.deparse()?);
    Ok(())
}
"#;

/// The packages. They are made once for all tests of this file, because several runs would use the same folder.
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

    /// The unpacked folder of a package.
    fn unpacked(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// Runs a command and returns its output. If it fails, the error has the output.
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
    // Packaging must remove the files that it has put into the checkout.
    ensure!(!repository().join("crates/c/pg-query-sys/libpg_query").exists());
    Ok(())
}

/// A program that depends on the parser's published package, with all other crates vendored. Distributions and docs.rs build in this
/// way.
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

    /// Our packages replace the registry's twice: as patches while cargo resolves the dependencies, and as vendored folders for the
    /// build.
    fn vendor(&self) -> Result<()> {
        let manifest = "[package]\nname = \"user\"\nversion = \"1.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
                        [dependencies]\ntrunkline-parser = \"0.1.0\"\n";
        let mut patches = "\n[patch.crates-io]\n".to_owned();
        for name in &PACKAGES.names {
            let (package, _) = name.rsplit_once('-').context("a version")?;
            patches += &format!("{package} = {{ path = \"{}\" }}\n", PACKAGES.unpacked(name).display());
        }
        self.write("Cargo.toml", &format!("{manifest}{patches}"))?;
        // The same versions as in the workspace, because these are already fetched.
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

    /// Cargo with an empty home and no network. Of this machine's settings it has only the place of the compilers.
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
    // The build must not have fetched anything by itself either.
    ensure!(!user.folder.path().join("home/cargo/registry").exists(), "cargo's home has a registry");
    Ok(())
}

#[test]
#[ignore = "vendors crates for every target: make suites"]
fn a_package_without_its_c_reports_how_to_make_it() -> Result<()> {
    let user = User::new()?;
    let with_c = PACKAGES.names.iter().find(|name| PACKAGES.unpacked(name).join("libpg_query").exists());
    let vendored = user.folder.path().join("vendor").join(with_c.context("no package has C")?);
    fs::remove_dir_all(vendored.join("libpg_query"))?;
    let error = output(user.cargo().arg("build")).expect_err("there is no C to build");
    ensure!(error.to_string().contains("made without it: make it by `cargo xtask package`"), "{error}");
    Ok(())
}
