//! Statements with the same key must have the same tree except for literals. PostgreSQL's parser decides that.

mod nasty;

use nasty::Nasty;
use std::collections::HashMap;
use std::sync::Mutex;
use trunkline_parity::{compare, oracle, same_value};
use trunkline_parser::key::{KeyBuffer, ScanKey, scan_key};
use trunkline_parser::lexer::scan;

/// How many changes [`changed_statements`] makes to each statement of the corpus. `KEY_CHANGES` sets another number.
const CHANGES: u64 = 3;

fn key(text: &str) -> Option<Vec<u8>> {
    match scan_key(text, &mut KeyBuffer::new()) {
        ScanKey::Sure(key) => Some(key.bytes.to_vec()),
        ScanKey::Unsure(_) => None,
    }
}

/// Two texts with the same key must have the same fingerprint, or both be refused (`None`).
fn fingerprint_if_valid(text: &str) -> Option<u64> {
    oracle::fingerprint(text).ok().map(|(value, _)| value)
}

/// The first text of each key, and its fingerprint.
type Seen = HashMap<Vec<u8>, (String, Option<u64>)>;

#[test]
fn statements_with_the_same_key_have_the_same_fingerprint() {
    let seen: Mutex<Seen> = Mutex::default();
    compare("fingerprints by key", |statement| {
        let Some(key) = key(&statement.sql) else { return Ok(()) };
        let found = fingerprint_if_valid(&statement.sql);
        let mut seen = seen.lock().expect("no test has panicked");
        let (first, expected) = seen.entry(key).or_insert_with(|| (statement.sql.clone(), found));
        same_value(expected, &found).map_err(|difference| format!("{first}\n{difference}"))
    });
}

/// A token of a statement is left out, doubled, or replaced by another one. Then the key must differ, or the fingerprint must be the
/// same.
#[test]
fn changed_statements() {
    let changes = std::env::var("KEY_CHANGES").map_or(CHANGES, |changes| changes.parse().expect("a number"));
    compare("fingerprints by key after a change", |statement| {
        let Some(original) = key(&statement.sql) else { return Ok(()) };
        let mut random = Nasty::new(u64::from(statement.line) << 32 | statement.sql.len() as u64);
        for _ in 0..changes {
            let changed = change(&statement.sql, &mut random);
            if key(&changed).is_some_and(|key| key == original) {
                same_value(&fingerprint_if_valid(&statement.sql), &fingerprint_if_valid(&changed))
                    .map_err(|difference| format!("{changed}\n{difference}"))?;
            }
        }
        Ok(())
    });
}

/// White space, comments and the case of words do not change the key.
#[test]
fn white_space_comments_and_case_do_not_change_the_key() {
    compare("key of the same tokens", |statement| {
        let Some(original) = key(&statement.sql) else { return Ok(()) };
        let Ok(tokens) = scan(&statement.sql) else { return Err("keyed, but not scanned".to_owned()) };
        let mut text = String::from("/* a /* b */ ' */");
        for token in tokens {
            let bytes = &statement.sql[token.start as usize..token.end as usize];
            // The N of N'...' must stay before its quote, and a comment must end its line.
            let word = bytes.starts_with(|first: char| first.is_ascii_alphabetic()) && bytes.len() > 1;
            let plain = word && !bytes.contains(['\'', '"']);
            text.push_str(&if plain { bytes.to_ascii_uppercase() } else { bytes.to_owned() });
            let national = bytes.len() == 1 && token.keyword.is_some();
            text.push_str(if national { "" } else { " --'\n\t" });
        }
        // Two strings with a newline between them would become one string.
        match key(&text) {
            Some(key) if key == original => Ok(()),
            _ if adjacent_strings(&statement.sql) => Ok(()),
            other => Err(format!("{text}\n{other:?}\n{original:?}")),
        }
    });
}

fn adjacent_strings(text: &str) -> bool {
    let tokens = scan(text).unwrap_or_default();
    tokens.windows(2).any(|pair| pair.iter().all(|token| token.to_string().ends_with("CONST")))
}

fn change(text: &str, random: &mut Nasty) -> String {
    let tokens = scan(text).unwrap_or_default();
    if tokens.is_empty() {
        return text.to_owned();
    }
    let mut pick = || {
        let token = tokens[random.below(tokens.len() as u64) as usize];
        token.start as usize..token.end as usize
    };
    let (one, other) = (pick(), pick());
    let (before, after) = (&text[..one.start], &text[one.end..]);
    match random.below(3) {
        0 => format!("{before} {after}"),
        1 => format!("{before}{0} {0}{after}", &text[one]),
        _ => format!("{before} {} {after}", &text[other]),
    }
}
