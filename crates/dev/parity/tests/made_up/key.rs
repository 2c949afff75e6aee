//! Texts that differ only in their literals must have the same key, and the same tree except for the literals.

use trunkline_parser::key::{KeyBuffer, Literal, LiteralClass, ScanKey, scan_key};
use trunkline_parser::node::{IndexElem, Node};
use trunkline_parser::{ParsedSql, parse};

/// Whether the text with other literals has the same key. An error says how the two trees differ.
pub(crate) fn check(sql: &str) -> Result<bool, String> {
    let Some((key, literals)) = keyed(sql).filter(|(_, literals)| !literals.is_empty()) else {
        return Ok(false);
    };
    let other = with_other_literals(sql, &literals);
    let Some((other_key, _)) = keyed(&other) else {
        return Err(format!("{sql}\n  has a key\n  {other}\n  has none"));
    };
    if key != other_key {
        return Err(format!("{sql}\n  {other}\n  have different keys"));
    }
    match (parse(sql), parse(&other)) {
        (Err(_), Err(_)) => Ok(false),
        (Ok(tree), Ok(other_tree)) if tree.fingerprint() == other_tree.fingerprint() => Ok(true),
        (Ok(tree), Ok(_)) if has_options_of_operator_class(&tree) => Ok(false),
        (tree, other_tree) => Err(format!("{sql}\n  {:?}\n  {other}\n  {:?}", tree.err(), other_tree.err())),
    }
}

/// Whether ON CONFLICT has options of an operator class. The grammar accepts these, and PostgreSQL refuses them later. Their literals
/// are not constants.
fn has_options_of_operator_class(tree: &ParsedSql) -> bool {
    tree.nodes().filter_map(Node::cast::<IndexElem<'_>>).any(|element| !element.opclassopts().is_empty())
}

fn keyed(sql: &str) -> Option<(Vec<u8>, Vec<Literal>)> {
    let mut buffer = KeyBuffer::new();
    match scan_key(sql, &mut buffer) {
        ScanKey::Sure(key) => Some((key.bytes.to_vec(), key.literals.to_vec())),
        ScanKey::Unsure(_) => None,
    }
}

fn with_other_literals(sql: &str, literals: &[Literal]) -> String {
    let mut other = String::new();
    let mut copied = 0;
    for literal in literals {
        other.push_str(sql.get(copied..literal.start as usize).unwrap_or_default());
        // A letter before the literal is the N of `N'...'`. It must stay, because the literal would be another token without it.
        if !other.ends_with(char::is_alphanumeric) {
            other.push(' ');
        }
        other.push_str(match literal.class {
            LiteralClass::Integer => "70001 ",
            LiteralClass::BigInteger => "70000000001 ",
            LiteralClass::Float => "8.25e3 ",
            LiteralClass::BitString => "b'1011' ",
            LiteralClass::HexString => "x'1f' ",
            LiteralClass::String => "'other' ",
        });
        copied = literal.end as usize;
    }
    other + sql.get(copied..).unwrap_or_default()
}
