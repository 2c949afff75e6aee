//! Statements with the same key have the same tree except for literals: compared with PostgreSQL's parser.

mod nasty;

use nasty::Nasty;
use std::collections::HashMap;
use std::sync::Mutex;
use trunkline_parity::{compare, oracle, same_value};
use trunkline_parser::key::{KeyBuffer, ScanKey, scan_key};
use trunkline_parser::lexer::scan;

/// Changes made to each statement of the corpus by [`changed_statements`]. `KEY_CHANGES` sets another number.
const CHANGES: u64 = 3;

fn key(text: &str) -> Option<Vec<u8>> {
    match scan_key(text, &mut KeyBuffer::new()) {
        ScanKey::Sure(key) => Some(key.bytes.to_vec()),
        ScanKey::Unsure(_) => None,
    }
}

/// What two texts with the same key must have in common: that they are SQL or not, and their fingerprint.
fn nature(text: &str) -> Option<u64> {
    oracle::fingerprint(text).ok().map(|(value, _)| value)
}

/// The first text of each key, and its nature.
type Seen = HashMap<Vec<u8>, (String, Option<u64>)>;

#[test]
fn statements_of_one_key_are_of_one_nature() {
    let seen: Mutex<Seen> = Mutex::default();
    compare("nature by key", |statement| {
        let Some(key) = key(&statement.sql) else { return Ok(()) };
        let nature = nature(&statement.sql);
        let mut seen = seen.lock().expect("no test has panicked");
        let (first, expected) = seen.entry(key).or_insert_with(|| (statement.sql.clone(), nature));
        same_value(expected, &nature).map_err(|difference| format!("{first}\n{difference}"))
    });
}

/// A token of a statement left out, doubled, or put where another is: the key is another one, or nothing that matters
/// has changed.
#[test]
fn changed_statements() {
    let changes = std::env::var("KEY_CHANGES").map_or(CHANGES, |changes| changes.parse().expect("a number"));
    compare("nature by key after a change", |statement| {
        let Some(original) = key(&statement.sql) else { return Ok(()) };
        let mut random = Nasty::new(u64::from(statement.line) << 32 | statement.sql.len() as u64);
        for _ in 0..changes {
            let changed = change(&statement.sql, &mut random);
            if key(&changed).is_some_and(|key| key == original) {
                same_value(&nature(&statement.sql), &nature(&changed))
                    .map_err(|difference| format!("{changed}\n{difference}"))?;
            }
        }
        Ok(())
    });
}

/// White space, comments and the case of words change nothing.
#[test]
fn dressed_up_statements() {
    compare("key of the same tokens", |statement| {
        let Some(original) = key(&statement.sql) else { return Ok(()) };
        let Ok(tokens) = scan(&statement.sql) else { return Err("keyed, but not scanned".to_owned()) };
        let mut text = String::from("/* a /* b */ ' */");
        for token in tokens {
            let bytes = &statement.sql[token.start as usize..token.end as usize];
            // The N of N'...' must keep its quote, a comment its line.
            let word = bytes.starts_with(|first: char| first.is_ascii_alphabetic()) && bytes.len() > 1;
            let plain = word && !bytes.contains(['\'', '"']);
            text.push_str(&if plain { bytes.to_ascii_uppercase() } else { bytes.to_owned() });
            let national = bytes.len() == 1 && token.keyword.is_some();
            text.push_str(if national { "" } else { " --'\n\t" });
        }
        // Strings in two tokens become one where a newline comes between.
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
