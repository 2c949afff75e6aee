//! That every global symbol of the library has our prefix: a program may link another libpg_query beside it.

use std::collections::BTreeSet;
use std::process::Command;

const PREFIX: &str = "trunkline_";
const RENAMED: &str = include_str!("../csrc/symbols.txt");

/// The names of the library's global symbols, as binutils' nm lists them, which a C compiler needs too.
fn symbols() -> BTreeSet<String> {
    let archive = env!("TRUNKLINE_PG_QUERY_ARCHIVE");
    let listed =
        Command::new("nm").args(["--defined-only", "--extern-only", "--format=posix", archive]).output();
    let listed = listed.expect("nm runs (Debian: binutils)");
    assert!(listed.status.success(), "nm {archive}: {}", String::from_utf8_lossy(&listed.stderr));
    // `name kind value size`; what has no kind is the name of an object file.
    let lines = String::from_utf8_lossy(&listed.stdout).into_owned();
    lines.lines().filter_map(|line| line.split_once(' ')).map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn all_have_our_prefix() {
    let symbols = symbols();
    assert!(symbols.len() > 100, "nm lists {} symbols", symbols.len());
    let bare: Vec<_> = symbols.iter().filter(|name| !name.starts_with(PREFIX)).collect();
    assert!(bare.is_empty(), "to be added to csrc/symbols.txt: {bare:?}");
}

#[test]
fn all_that_are_renamed_exist() {
    let symbols = symbols();
    let gone: Vec<_> = RENAMED.lines().filter(|name| !symbols.contains(&format!("{PREFIX}{name}"))).collect();
    assert!(gone.is_empty(), "to be taken out of csrc/symbols.txt: {gone:?}");
}
