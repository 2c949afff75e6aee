//! `docs/configuration.md` and `packaging/trunkline.toml` agree with the code.

use std::path::{Path, PathBuf};

use trunkline::config::{Config, DEFAULT_AUTH_QUERY, schema};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn document() -> String {
    std::fs::read_to_string(repository().join("docs/configuration.md")).expect("docs/configuration.md")
}

/// A setting in the document.
struct Row {
    table: String,
    name: String,
    meaning: String,
    default: String,
}

fn rows(document: &str) -> Vec<Row> {
    let mut table = String::new();
    let mut rows = Vec::new();
    for line in document.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            let bare = title.trim_matches('`').strip_prefix('[').and_then(|title| title.strip_suffix(']'));
            table = bare.unwrap_or("").to_owned();
        }
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if let ["", name, meaning, default, _, ""] = cells[..]
            && let Some(name) = name.strip_prefix('`').and_then(|name| name.strip_suffix('`'))
        {
            rows.push(Row {
                table: table.clone(),
                name: name.to_owned(),
                meaning: meaning.to_owned(),
                default: default.to_owned(),
            });
        }
    }
    rows
}

#[test]
fn the_document_lists_exactly_the_settings_of_the_schema() {
    let documented: Vec<(String, String)> =
        rows(&document()).into_iter().map(|row| (row.table, row.name)).collect();
    let accepted: Vec<(String, String)> =
        schema::keys().into_iter().map(|key| (key.table.to_owned(), key.name.to_owned())).collect();
    assert_eq!(documented, accepted);
    assert!(accepted.len() > 90, "the schema lost settings: {}", accepted.len());
}

#[test]
fn the_documented_defaults_are_the_defaults() {
    let document = document();
    for (Row { table, name, default: documented, .. }, key) in rows(&document).into_iter().zip(schema::keys())
    {
        match (table.as_str(), name.as_str(), key.default.as_str()) {
            ("auth", "query", _) => assert!(document.contains(DEFAULT_AUTH_QUERY)),
            (_, _, "") => {}
            (_, _, default) => assert_eq!(documented, format!("`{default}`"), "[{table}] {name}"),
        }
    }
}

#[test]
fn the_document_says_which_settings_wait_for_a_restart() {
    for (row, key) in rows(&document()).iter().zip(schema::keys()) {
        assert_eq!(row.meaning.ends_with("*Restart.*"), key.needs_restart, "[{}] {}", row.table, row.name);
    }
}

#[test]
fn the_packaged_file_is_accepted_and_suggests_only_real_settings() {
    let file = repository().join("packaging/trunkline.toml");
    let text = std::fs::read_to_string(&file).expect("packaging/trunkline.toml");
    let config = Config::load(&file).expect("accepted");
    assert_eq!(config.databases.len(), 1);

    // Settings in comments. Some need files or the environment, so only their names are checked.
    let mut suggestions = 0;
    for line in text.lines().filter_map(|line| line.strip_prefix("# ")) {
        let Some((name, _)) = line.split_once(" = ") else { continue };
        assert!(
            schema::keys().iter().any(|key| key.name == name),
            "`{name}` is suggested but is not a setting"
        );
        suggestions += 1;
    }
    assert!(suggestions > 15, "{suggestions}");
}

#[test]
fn every_setting_is_accepted_with_its_documented_default() {
    let mut text = String::new();
    let mut table = "";
    for key in schema::keys() {
        if key.table != table {
            table = key.table;
            text.push_str(&format!("[{}]\n", table.replace("NAME", "app")));
        }
        let value = match (key.table, key.name) {
            ("databases.NAME", "host") => "\"localhost\"".to_owned(),
            ("users.NAME", "password") => "\"x\"".to_owned(),
            (_, "query") => format!("'{DEFAULT_AUTH_QUERY}'"),
            _ => key.default,
        };
        if !value.is_empty() {
            text.push_str(&format!("{} = {value}\n", key.name));
        }
    }
    let written = Config::parse(&text, "defaults.toml", Path::new("/"), &|_| None).expect("accepted");
    let minimal = "[databases.app]\nhost = \"localhost\"\n[users.app]\npassword = \"x\"\n";
    let left_out = Config::parse(minimal, "minimal.toml", Path::new("/"), &|_| None).expect("accepted");
    assert_eq!(written, left_out);
}
