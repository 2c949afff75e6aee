//! Compiles PostgreSQL's C that a parse needs, and ours around it.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use crate::profile;

/// Every global symbol of the C sources: each gets the prefix `trunkline_`, so that a program may link another
/// libpg_query, or PostgreSQL's own libraries, beside ours. `tests/symbols.rs` says which are missing.
const SYMBOLS: &str = include_str!("../csrc/symbols.txt");

/// Our sources, each a translation unit. Those that include PostgreSQL's are named in `INCLUDED`.
const OURS: &[&str] = &["location.c", "leaves.c", "plpgsql.c", "plpgsql_json.c", "plpgsql_parse.c"];

/// The grammar, the scanner and what makes nodes: where the time of a parse goes.
const HOT: &str = "unity.c";

/// Sources of `src/postgres` that are part of a unit of ours, or that ours take the place of (memory contexts).
const INCLUDED: &[&str] = &[
    "src_backend_nodes_list.c",
    "src_backend_nodes_value.c",
    "src_backend_nodes_makefuncs.c",
    "src_backend_nodes_nodeFuncs.c",
    "src_backend_parser_gram.c",
    "src_backend_parser_parser.c",
    "src_backend_parser_scan.c",
    "src_backend_parser_scansup.c",
    "src_common_keywords.c",
    "src_common_kwlookup.c",
];
const REPLACED_PREFIX: &str = "src_backend_utils_mmgr_";

/// What is built.
const LIBRARY: &str = "trunkline_pg_query";

/// Builds the static library from libpg_query's folder `source`, into cargo's OUT_DIR.
pub(crate) fn compile(source: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    let ours = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").ok_or("CARGO_MANIFEST_DIR is not set")?)
        .join("csrc");
    println!("cargo::rerun-if-changed={}", ours.display());
    let rename = out.join("rename.h");
    let defines: String =
        SYMBOLS.lines().map(|symbol| format!("#define {symbol} trunkline_{symbol}\n")).collect();
    fs::write(&rename, defines)?;

    let mut build = configured(source, &ours, &rename);
    build.files(OURS.iter().map(|name| ours.join(name)));
    build.file(out.join("layout.c"));
    let mut theirs: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(source.join("src/postgres"))? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.ends_with(".c") && !INCLUDED.contains(&name) && !name.starts_with(REPLACED_PREFIX) {
            theirs.push(path);
        }
    }
    theirs.sort();
    build.files(theirs);
    let mut hot = configured(source, &ours, &rename);
    hot.file(ours.join(HOT));
    for object in profile::compile(hot, out)? {
        build.object(object);
    }

    build.compile(LIBRARY);
    println!("cargo::rustc-env=TRUNKLINE_PG_QUERY_ARCHIVE={}", out.join(format!("lib{LIBRARY}.a")).display());
    Ok(())
}

fn configured(source: &Path, ours: &Path, rename: &Path) -> cc::Build {
    let mut build = cc::Build::new();
    build
        .include(source)
        .include(source.join("src"))
        .include(source.join("src/postgres/include"))
        .include(source.join("src/include"))
        .include(source.join("vendor"))
        .include(ours)
        // What PostgreSQL is always built with: its code relies on both.
        .flag("-fno-strict-aliasing")
        .flag("-fwrapv")
        .flag("-include")
        .flag(rename)
        .define("HAVE_PTHREAD", None)
        .warnings(false)
        // A parse in a debug build is still PostgreSQL's code, which nobody debugs there: always optimized.
        .opt_level(2);
    build
}
