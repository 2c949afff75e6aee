//! Checks the classes and references of PostgreSQL's own statements against their keys, trees and texts.

use std::collections::HashMap;
use std::sync::Mutex;

use trunkline_parity::compare;
use trunkline_parser::classify::{Class, Count};
use trunkline_parser::key::{KeyBuffer, ScanKey, scan_key};
use trunkline_parser::{ParsedSql, parse};

/// The least number of statements with a key. With fewer, the comparison would prove nothing.
const KEYED_MIN: usize = 10_000;

/// A class is cached by the statement's key, which leaves literals out. So statements with the same key must have the same class.
#[test]
fn statements_with_the_same_key_have_the_same_class() {
    let classes: Mutex<HashMap<Vec<u8>, (Class, String)>> = Mutex::default();
    compare("class by key", |statement| {
        let Ok(tree) = parse(&statement.sql) else { return Ok(()) };
        let mut buffer = KeyBuffer::new();
        let ScanKey::Sure(key) = scan_key(&statement.sql, &mut buffer) else { return Ok(()) };
        let class = tree.classify();
        let mut classes = classes.lock().map_err(|error| error.to_string())?;
        let (known, first) =
            classes.entry(key.bytes.to_vec()).or_insert_with(|| (class, statement.sql.clone()));
        if *known == class { Ok(()) } else { Err(format!("{class:?}\nand that of {first}\n{known:?}")) }
    });
    let keyed = classes.into_inner().map(|classes| classes.len()).unwrap_or_default();
    assert!(keyed >= KEYED_MIN, "the corpus has {keyed} keys");
}

#[test]
fn classes_agree_with_their_parts() {
    compare("class", |statement| {
        let Ok(tree) = parse(&statement.sql) else { return Ok(()) };
        let class = tree.classify();
        let parts: Vec<_> = tree.root().nodes().map(trunkline_parser::node::Node::classify).collect();
        let count = match parts.len() {
            0 => Count::None,
            1 => Count::One,
            _ => Count::Several,
        };
        if class.count() != count {
            return Err(format!("{} statements are {:?}", parts.len(), class.count()));
        }
        for part in parts {
            if !class.touches().all(part.touches()) || part.access() > class.access() {
                return Err(format!("{part:?} is not in {class:?}"));
            }
            if part.kind() == trunkline_parser::classify::Kind::Unknown {
                return Err("nobody knows what it is".to_owned());
            }
        }
        if tree.subjects().count() != tree.root().nodes().count() {
            return Err("not every statement has a subject".to_owned());
        }
        Ok(())
    });
}

/// The text has each table and each call at its location, and each belongs to a level that exists.
#[test]
fn the_text_has_each_reference_at_its_location() {
    compare("references", |statement| {
        let Ok(tree) = parse(&statement.sql) else { return Ok(()) };
        check_references(&tree, &statement.sql)
    });
}

fn check_references(tree: &ParsedSql, sql: &str) -> Result<(), String> {
    let found = tree.references();
    for relation in found.relations() {
        let first = relation.catalog.or(relation.schema).unwrap_or(relation.name);
        if relation.location >= 0 && !names(sql, relation.location, first) {
            return Err(format!("{relation:?} is not at {}", relation.location));
        }
    }
    for call in found.calls() {
        let first = call.schema.unwrap_or(call.name);
        let at = |name| names(sql, call.location(), name);
        // For LIKE .. ESCAPE, SIMILAR TO and JSON_OBJECT(), the grammar makes calls of functions in pg_catalog.
        let is_escape = matches!(call.name, "like_escape" | "similar_to_escape");
        if !call.is_syntax() && !is_escape && !first.is_empty() && !at(first) && !at(call.name) {
            return Err(format!("the call of {first} is not at {}", call.location()));
        }
    }
    for parameter in found.parameters() {
        let text = usize::try_from(parameter.location).ok().and_then(|at| sql.get(at..)).unwrap_or("");
        if !text.starts_with(&format!("${}", parameter.number)) {
            return Err(format!("{parameter:?} is not there"));
        }
    }
    let levels = found.levels();
    let used = found.relations().iter().map(|one| one.level);
    let used = used.chain(found.comparisons().iter().map(|one| one.level));
    let used = used.chain(found.calls().iter().map(|one| one.level));
    if let Some(level) = used.into_iter().find(|level| *level as usize >= levels.len()) {
        return Err(format!("there is no level {level}"));
    }
    for (number, level) in (0_u32..).zip(levels) {
        if level.above.is_some_and(|above| above >= number) {
            return Err(format!("level {number} is not below {:?}", level.above));
        }
    }
    Ok(())
}

/// Whether a name stands at a place: unchanged, in capitals, or in quotes of some kind.
fn names(sql: &str, location: i32, name: &str) -> bool {
    let Some(text) = usize::try_from(location).ok().and_then(|at| sql.get(at..)) else { return false };
    // Names are cut at 63 bytes, and some functions have keywords of SQL in PostgreSQL 18.
    let begins = |text: &str| {
        text.as_bytes().get(..name.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(name.as_bytes()))
    };
    text.starts_with('"') || text.starts_with("U&\"") || text.starts_with("u&\"") || begins(text)
}
