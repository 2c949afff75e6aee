//! Repository chores that need no shell: `cargo xtask tidy`.
//!
//! Prints to standard output: it is a program for people and for CI, and has no log.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod finding;
mod tidy;
mod tree;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask tidy [ROOT]

  tidy   checks of the repository that cargo cannot make; one line a finding, `file:line: what, what to do`.
         ROOT is the repository to look at, this one by default.";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let chore = arguments.next();
    let root = arguments.next().map_or_else(repository_root, PathBuf::from);
    match (chore.as_deref(), arguments.next()) {
        (Some("tidy"), None) => report(&root),
        (Some("help" | "--help" | "-h"), _) => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// The workspace this binary was built from: three folders above `crates/dev/xtask`.
fn repository_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(3).unwrap_or(here).to_path_buf()
}

/// Runs every check and prints its findings, a line a check, and the closing count.
fn report(root: &Path) -> ExitCode {
    let tree = match tree::Tree::read(root) {
        Ok(tree) => tree,
        Err(error) => {
            eprintln!("tidy: cannot read {}: {error}", root.display());
            return ExitCode::from(2);
        }
    };
    let (mut passed, mut failed) = (0, 0);
    for check in tidy::CHECKS {
        let mut findings = (check.run)(&tree);
        findings.sort();
        for finding in &findings {
            println!("{finding}");
        }
        if findings.is_empty() {
            passed += 1;
            println!("ok      {}", check.name);
        } else {
            failed += 1;
            println!("FAILED  {}: {} to put right", check.name, findings.len());
        }
    }
    println!("{passed} passed, {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
