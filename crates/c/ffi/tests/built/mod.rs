//! Where cargo has put the libraries, and programs in C that are built with them.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The folder of this test's own program: `target/debug/deps`.
pub(crate) fn folder() -> PathBuf {
    let program = std::env::current_exe().expect("a program has a place");
    program.parent().expect("in a folder").to_path_buf()
}

/// A library that cargo built for this test.
pub(crate) fn library(name: &str) -> PathBuf {
    let place = folder().join(name);
    if place.exists() {
        return place;
    }
    // A library of a dependency has the dependency's number in its name; the newest is this build's.
    let (stem, extension) = name.rsplit_once('.').expect("a name has an end");
    let entries = std::fs::read_dir(folder()).expect("a folder can be read");
    let fits = |path: &PathBuf| {
        let found = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        found.starts_with(&format!("{stem}-")) && found.ends_with(&format!(".{extension}"))
    };
    let found = entries.flatten().map(|entry| entry.path()).filter(fits);
    let modified = |path: &PathBuf| path.metadata().and_then(|data| data.modified()).ok();
    found.max_by_key(modified).unwrap_or_else(|| panic!("cargo has built no {name}"))
}

/// What Rust's standard library needs of C's.
const SYSTEM: [&str; 5] = ["-lgcc_s", "-lpthread", "-ldl", "-lm", "-lc"];

/// Builds `sources`, relative to this crate, with `library`; the program is in `into`.
pub(crate) fn compile(sources: &[&str], library: &Path, flags: &[&str], into: &Path) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = into.join("program");
    let output = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-g", "-O1"])
        .args(flags)
        .arg("-I")
        .arg(here.join("include"))
        .args(sources.iter().map(|source| here.join(source)))
        .arg(library)
        .args(SYSTEM)
        .arg("-o")
        .arg(&program)
        .output()
        .expect("there is a C compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

/// Runs a program to its end; what it printed.
pub(crate) fn run(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().expect("the program runs");
    let (out, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?} ended with {}\n{out}\n{error}", output.status);
    out.into_owned()
}
