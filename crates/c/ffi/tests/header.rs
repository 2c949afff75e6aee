//! `include/trunkline.h` is what cbindgen makes of the sources: `TRUNKLINE_WRITE_HEADER=1 cargo test -p trunkline-ffi --test header`
//! writes it anew. The libraries' symbols are what it declares.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use cbindgen::{Builder, Config, DocumentationStyle, Language, Style};

mod built;

const HEAD: &str = include_str!("header-head.h");
const TAIL: &str = include_str!("header-tail.h");

/// Sources that have functions, structures or constants of the header, in the order in which it has them.
const SOURCES: [&str; 14] = [
    "../codec/src/status.rs",
    "../codec/src/boundary.rs",
    "../codec/src/session.rs",
    "../codec/src/api/mod.rs",
    "../codec/src/api/login.rs",
    "../codec/src/api/sessions.rs",
    "../codec/src/api/encode.rs",
    "../codec/src/api/results.rs",
    "../codec/src/api/blocks.rs",
    "src/connection.rs",
    "src/convenience.rs",
    "src/copy.rs",
    "src/unasked.rs",
    "src/parser.rs",
];

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn generated() -> String {
    let mut config = Config {
        language: Language::C,
        style: Style::Both,
        header: Some(HEAD.trim_end().to_owned()),
        trailer: Some(TAIL.trim_end().to_owned()),
        include_guard: Some("TRUNKLINE_H".to_owned()),
        no_includes: true,
        sys_includes: vec!["stddef.h".to_owned(), "stdint.h".to_owned(), "string.h".to_owned()],
        cpp_compat: true,
        usize_is_size_t: true,
        documentation_style: DocumentationStyle::C99,
        line_length: 120,
        ..Config::default()
    };
    config.function.sort_by = Some(cbindgen::SortKey::None);
    let names = [
        ("Bytes", "trunkline_bytes"),
        ("Value", "trunkline_value"),
        ("SessionEvent", "trunkline_event"),
        ("ColumnInfo", "trunkline_column"),
        ("Parameter", "trunkline_parameter"),
        ("LoginSettings", "trunkline_login_settings"),
    ];
    config.export.rename = names.into_iter().map(|(rust, c)| (rust.to_owned(), c.to_owned())).collect();
    let mut builder = Builder::new().with_config(config);
    for source in SOURCES {
        builder = builder.with_src(here().join(source));
    }
    let mut text = Vec::new();
    builder.generate().expect("the sources have what cbindgen reads").write(&mut text);
    String::from_utf8(text).expect("UTF-8")
}

#[test]
fn the_header_is_what_the_sources_say() {
    let path = here().join("include/trunkline.h");
    let generated = generated();
    if std::env::var_os("TRUNKLINE_WRITE_HEADER").is_some() {
        std::fs::write(&path, &generated).expect("writable");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == generated,
        "include/trunkline.h is not what the sources say: TRUNKLINE_WRITE_HEADER=1 cargo test -p trunkline-ffi --test header"
    );
}

/// The functions that the header declares.
fn declared() -> BTreeSet<String> {
    let text = std::fs::read_to_string(here().join("include/trunkline.h")).expect("the header");
    let code = text.lines().filter(|line| !line.starts_with("//")).collect::<Vec<_>>().join("\n");
    let names = code.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let followed = code.match_indices('(').filter_map(|(at, _)| {
        let before = code.get(..at)?;
        before.rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next()
    });
    let all: BTreeSet<&str> = names.collect();
    let inline = ["trunkline_text", "trunkline_str", "trunkline_binary"];
    followed
        .filter(|name| name.starts_with("trunkline_") && all.contains(name) && !inline.contains(name))
        .map(str::to_owned)
        .collect()
}

/// The functions of ours that a library defines.
fn defined(library: &Path, flags: &[&str]) -> BTreeSet<String> {
    let output = Command::new("nm").args(flags).arg("--defined-only").arg(library).output().expect("nm runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let names = text.lines().filter_map(|line| {
        let (kind, name) =
            line.split_whitespace().rev().collect::<Vec<_>>().split_first().map(|(name, rest)| {
                (rest.first().copied().unwrap_or_default().to_owned(), (*name).to_owned())
            })?;
        (kind == "T" && name.starts_with("trunkline_")).then_some(name)
    });
    names.collect()
}

#[test]
fn the_shared_library_exports_what_the_header_declares_and_nothing_else() {
    let shared = built::library("libtrunkline_ffi.so");
    let exported = defined(&shared, &["--dynamic"]);
    assert!(exported.len() > 70, "{exported:?}");
    assert_eq!(exported, declared());
    // Nothing else leaks: no symbol of the parser's C, of cryptography or of Rust.
    let output =
        Command::new("nm").args(["--dynamic", "--defined-only"]).arg(&shared).output().expect("nm runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let foreign: Vec<&str> =
        text.lines().filter(|line| line.contains(" T ") && !line.contains(" trunkline_")).collect();
    assert!(foreign.is_empty(), "{foreign:?}");
}

#[test]
fn the_innermost_layer_has_a_library_of_its_own() {
    let codec = defined(&built::library("libtrunkline_codec.a"), &[]);
    let all = declared();
    assert!(codec.is_subset(&all), "{:?}", codec.difference(&all));
    assert!(codec.contains("trunkline_session_feed") && !codec.contains("trunkline_connect"));
}

#[test]
fn the_shared_library_has_the_name_of_its_interface() {
    let shared = built::library("libtrunkline_ffi.so");
    let output = Command::new("readelf").arg("--dynamic").arg(shared).output().expect("readelf runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let expected = format!("[libtrunkline.so.{}]", trunkline_codec::api::TRUNKLINE_ABI_VERSION);
    let soname = text.lines().find(|line| line.contains("SONAME")).expect("it has a name");
    assert!(soname.ends_with(&expected), "{soname}");
}

#[test]
fn the_pkg_config_file_names_this_version() {
    let text = std::fs::read_to_string(here().join("trunkline.pc.in")).expect("the file");
    assert!(text.contains(&format!("Version: {}\n", env!("CARGO_PKG_VERSION"))), "{text}");
    let _: PathBuf = built::folder();
}
