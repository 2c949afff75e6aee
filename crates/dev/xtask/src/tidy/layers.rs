//! Checks the dependencies of the crates in `core`: the arrows of ARCHITECTURE.md, and the allowed crates from outside.

use std::path::Path;

use crate::finding::Finding;
use crate::tree::Tree;

/// A core crate (its folder under `crates/core`) and the crates of this repository on which it may depend. Arrows point down only.
const ARROWS: &[(&str, &[&str])] = &[
    ("wire", &[]),
    ("session", &["trunkline-wire"]),
    ("pool", &[]),
    ("parser", &["trunkline-pg-query-sys", "trunkline-pg-query-headers"]),
    ("relay", &["trunkline-session", "trunkline-pool", "trunkline-parser", "trunkline-wire"]),
];

/// Crates from outside that core may use. Their results depend only on arguments: they use no socket, clock, thread or file.
const PURE: &[&str] = &[
    // bytes and text
    "base64",
    "bytes",
    "encoding_rs",
    "memchr",
    "itoa",
    "stringprep",
    "unicode-normalization",
    // digests and the like; they get entropy as an argument
    "digest",
    "hmac",
    "md-5",
    "pbkdf2",
    "sha2",
    "subtle",
    "twox-hash",
    "zeroize",
    "x509-cert",
    "der",
    // collections
    "ahash",
    "arrayvec",
    "bitflags",
    "foldhash",
    "hashbrown",
    "hashlink",
    "indexmap",
    "lru",
    "rapidhash",
    "rustc-hash",
    "slab",
    "smallvec",
    // an Arc that is replaced while others read it. It keeps a record for each thread, but no result depends on it.
    "arc-swap",
    // more stack for recursion in deep trees; no result depends on it
    "stacker",
    // errors
    "thiserror",
];

const TABLES: [&str; 2] = ["dependencies", "build-dependencies"];

/// Checks the manifest of every crate under `crates/core`.
pub(super) fn manifests(tree: &Tree) -> Vec<Finding> {
    let core = tree.manifests().filter(|path| path.starts_with("crates/core"));
    core.flat_map(|path| manifest(path, &tree.text(path).unwrap_or_default())).collect()
}

fn manifest(path: &Path, text: &str) -> Vec<Finding> {
    let table: toml::Table = match text.parse() {
        Ok(table) => table,
        Err(error) => return vec![Finding::new(path, 1, format!("not TOML ({error})"), "correct it")],
    };
    let layer = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == layer) else {
        return vec![Finding::new(
            path,
            1,
            format!("core crate `{layer}` has no arrows"),
            "add the crates on which it may depend to ARROWS (xtask, layers.rs) and to ARCHITECTURE.md",
        )];
    };
    let mut findings = Vec::new();
    let mut look = |name: &str, shipped: bool| {
        let ours = name.starts_with("trunkline-");
        let fine = if ours { allowed.contains(&name) } else { !shipped || PURE.contains(&name) };
        if !fine {
            let remedy = if ours {
                format!(
                    "arrows point down: `{layer}` may depend on [{}] only; move the code or the type that it needs",
                    allowed.join(", ")
                )
            } else {
                "do without it, or add it to PURE (xtask, layers.rs) if it has no socket, clock, thread, file or global"
                    .to_owned()
            };
            findings.push(Finding::new(
                path,
                line_of(text, name),
                format!("`{layer}` depends on `{name}`"),
                remedy,
            ));
        }
    };
    for name in TABLES.iter().flat_map(|kind| dependencies(&table, kind)) {
        look(&name, true);
    }
    for name in dependencies(&table, "dev-dependencies") {
        look(&name, false);
    }
    findings
}

/// The package names in a kind of dependency table, also under `[target.*]`.
fn dependencies(manifest: &toml::Table, kind: &str) -> Vec<String> {
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    let tables = targets.into_iter().flat_map(toml::Table::values).filter_map(toml::Value::as_table);
    tables
        .chain([manifest])
        .filter_map(|table| table.get(kind)?.as_table())
        .flatten()
        .map(|(key, value)| match value.get("package").and_then(toml::Value::as_str) {
            Some(package) => package.to_owned(),
            None => key.clone(),
        })
        .collect()
}

fn line_of(text: &str, name: &str) -> usize {
    1 + text.lines().position(|line| line.contains(name) && !line.starts_with("name")).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(layer: &str, text: &str) -> Vec<String> {
        let path = format!("crates/core/{layer}/Cargo.toml");
        manifest(Path::new(&path), text).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_arrow_down_and_a_pure_crate_pass() {
        let text = "[dependencies]\ntrunkline-wire.workspace = true\nmd-5 = \"0.11\"\n[dev-dependencies]\nproptest = \"1\"\n";
        assert_eq!(of("session", text), Vec::<String>::new());
    }

    #[test]
    fn an_arrow_up_is_found_with_its_line() {
        let found = of("wire", "[dependencies]\ntrunkline-session.workspace = true\n");
        assert_eq!(found.len(), 1);
        assert!(
            found[0].starts_with("crates/core/wire/Cargo.toml:2: `wire` depends on `trunkline-session`"),
            "{found:?}"
        );
    }

    #[test]
    fn io_is_found_in_all_kinds_of_dependencies() {
        assert_eq!(of("pool", "[dependencies]\nmio = \"1\"\n").len(), 1);
        assert_eq!(of("pool", "[dependencies]\nm = { package = \"mio\", version = \"1\" }\n").len(), 1);
        assert_eq!(of("pool", "[target.'cfg(unix)'.dependencies]\nmio = \"1\"\n").len(), 1);
        assert_eq!(of("pool", "[build-dependencies]\ntokio = \"1\"\n").len(), 1);
        assert_eq!(of("pool", "[dev-dependencies]\ntrunkline-testkit.workspace = true\n").len(), 1);
    }

    #[test]
    fn a_crate_without_arrows_is_found() {
        assert_eq!(of("attic", "[dependencies]\n").len(), 1);
    }
}
