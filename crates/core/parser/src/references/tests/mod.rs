//! Statements and what they refer to, side by side.

mod comparisons;
mod others;
mod relations;

use std::fmt::Write as _;

use super::{Comparison, Holds, References, Relation, Value, ValueKind};
use crate::parse;

/// A relation in a word or two: what is done with it (r, w, l, d; - if it is only named), `?` in a definition, the
/// name, `/` and the alias, `@` and the level if it is not the first, `+` and a lock's strength.
fn relation(found: &Relation<'_>) -> String {
    let usage = found.usage;
    let letters =
        [(usage.is_read, 'r'), (usage.is_written, 'w'), (usage.is_locked, 'l'), (usage.is_defined, 'd')];
    let mut text: String = letters.iter().filter(|(is, _)| *is).map(|(_, letter)| *letter).collect();
    if text.is_empty() {
        text.push('-');
    }
    text.push_str(if found.is_in_definition { "?:" } else { ":" });
    for part in [found.catalog, found.schema].into_iter().flatten() {
        let _ = write!(text, "{part}.");
    }
    text.push_str(found.name);
    if let Some(alias) = found.alias {
        let _ = write!(text, "/{alias}");
    }
    if found.level > 0 {
        let _ = write!(text, "@{}", found.level);
    }
    if let Some(lock) = found.lock {
        let _ = write!(text, "+{}", lock.c_name().trim_start_matches("LCS_FOR").to_lowercase());
    }
    text
}

fn value(found: Value<'_>) -> String {
    let mut text = match found.kind {
        ValueKind::Parameter(number) => format!("${number}"),
        ValueKind::Null => "null".to_owned(),
        ValueKind::Integer(number) => number.to_string(),
        ValueKind::Number(number) => format!("#{number}"),
        ValueKind::Text(text) => format!("'{text}'"),
        ValueKind::Boolean(is) => is.to_string(),
        ValueKind::Bits(bits) => bits.to_owned(),
        ValueKind::Default => "default".to_owned(),
    };
    if let Some(last) = found.cast.and_then(|of| of.names().strings().next_back()) {
        let _ = write!(text, "::{last}");
    }
    text
}

/// A comparison: `!` if it always holds, `~` if of an outer join, else `?`; the column; the test; the values.
fn comparison(found: &Comparison<'_>) -> String {
    let mut text = match found.holds {
        Holds::Always => "!",
        Holds::OuterJoin => "~",
        Holds::Maybe => "?",
    }
    .to_owned();
    let column = found.column;
    let parts = [column.schema, column.relation, column.name];
    text.push_str(&parts.into_iter().flatten().collect::<Vec<_>>().join("."));
    if let Some(place) = column.place {
        let _ = write!(text, "[{place}]");
    }
    if column.is_cast {
        text.push_str("::");
    }
    if found.level > 0 {
        let _ = write!(text, "@{}", found.level);
    }
    text.push_str(&format!(" {:?}", found.test).replace('"', ""));
    if found.is_reversed {
        text.push_str(" reversed");
    }
    for one in found.values.iter() {
        let _ = write!(text, " {}", value(one));
    }
    assert_eq!(found.values.iter().count(), found.values.len(), "{text}");
    text
}

fn relations(found: &References<'_>) -> String {
    found.relations().iter().map(relation).collect::<Vec<_>>().join(", ")
}

fn comparisons(found: &References<'_>) -> String {
    found.comparisons().iter().map(comparison).collect::<Vec<_>>().join(", ")
}

/// Compares what `shown` makes of the left side of each line `statement => text` with the right.
#[track_caller]
fn check(shown: impl Fn(&References<'_>) -> String, table: &str) {
    let mut wrong = String::new();
    let mut checked = 0;
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (sql, expected) = line.rsplit_once(" =>").unwrap_or((line, ""));
        let found = match parse(sql) {
            Ok(tree) => shown(&tree.references()),
            Err(error) => format!("{error}"),
        };
        if found != expected.trim() {
            let _ = writeln!(wrong, "{sql} => {found}");
        }
        checked += 1;
    }
    assert!(wrong.is_empty(), "of {checked} statements these refer to something else:\n{wrong}");
    assert!(checked > 0, "the table is empty");
}
