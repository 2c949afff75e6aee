//! Every string of a tree is UTF-8: views hand them out as `str` unseen.

use trunkline_parser::node::{Fields, Value};
use trunkline_parser::{ParseOptions, parse, parse_with};

/// Checks all strings of a text's tree. Whether it parses does not matter here.
fn check(sql: &str) {
    let loose = ParseOptions { standard_conforming_strings: false, ..ParseOptions::default() };
    for tree in [parse(sql), parse_with(sql, loose)].into_iter().flatten() {
        for node in tree.nodes() {
            check_fields(node.fields(), sql);
        }
        assert!(std::str::from_utf8(tree.to_json().as_bytes()).is_ok());
    }
}

fn check_fields(fields: Fields<'_>, sql: &str) {
    for (info, value) in fields {
        match value {
            Value::Str(Some(text)) => {
                assert!(
                    std::str::from_utf8(text.as_bytes()).is_ok(),
                    "{sql}: {} is {:?}",
                    info.name(),
                    text.as_bytes()
                );
            }
            Value::Inner(fields) => check_fields(fields, sql),
            _ => {}
        }
    }
}

#[test]
fn names_are_cut_between_characters() {
    for letter in ["é", "€", "𝄞"] {
        for shift in 0..4 {
            let name = "a".repeat(shift) + &letter.repeat(80);
            check(&format!(
                "SELECT {name}, \"{name}\", {name}.\"{name}\" FROM {name} AS {name} (U&\"{name}\")"
            ));
            check(&format!(
                "CREATE FUNCTION {name}({name} {name}) RETURNS {name} LANGUAGE {name} AS '{name}'"
            ));
        }
    }
    let tree = parse(&format!("LISTEN {}", "é".repeat(40))).map(|tree| tree.to_json());
    assert!(
        tree.is_ok_and(|json| json.contains(&format!("\"{}\"", "é".repeat(31)))),
        "63 bytes are 31 characters"
    );
}

#[test]
fn escapes_make_no_other_bytes() {
    for byte in 0..=255 {
        check(&format!("SELECT E'\\x{byte:02x}', '\\x{byte:02x}'"));
        check(&format!("SELECT E'\\{byte:o}', '\\{byte:o}'"));
        check(&format!("SELECT E'é\\x{byte:02x}é'"));
        check(&format!("SELECT E'\\303\\{byte:o}'"));
    }
    for code in (0..0x11_0000_u32).step_by(0x100).chain(0xD7FE..0xE002).chain(0..0x200) {
        check(&format!("SELECT E'\\u{code:04x}', U&'\\{code:04x}', U&\"x\\+{code:06x}\", E'\\U{code:08x}'"));
    }
    check(
        "SELECT U&'d!0061t!+00e9' UESCAPE '!', U&'a' UESCAPE 'é', U&'\\D83D\\DE00', U&'\\D83D', E'\\uD83D\\uDE00'",
    );
}

#[test]
fn other_letters_stand_everywhere() {
    check("SELECT $é$ü$é$, B'é', X'é', N'é', é.*, :é, a.é::é[] , é(ü => 1) OPERATOR(é.+) /* é */ -- é");
    check("DO $$é$$; COMMENT ON TABLE é IS 'é'; SET é = 'é', é; COPY é FROM 'é' DELIMITER 'é' NULL 'é'");
    check("SELECT '\u{feff}', \u{feff}, \u{a0}, 'é'\n'ü', E'é'\n'\\xe9'");
}
