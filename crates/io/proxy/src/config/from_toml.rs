//! Turns TOML text into the values of `value.rs`. Nothing else in this program knows that a configuration is TOML.
//!
//! It uses the tree and the places of toml's parser, not serde's derive: serde stops at the first error, and a person
//! who moves a configuration wants to see all errors at once, each with its place.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::pgbouncer::is_ini;
use super::problem::{Findings, Quote};
use super::value::{Data, Integer, Key, Table, Value};

/// The greatest depth of a value that is read. Settings stand at depth 3 (`databases.app.port`), elements of lists below
/// them. A deeper value is refused unread, so that no text can make this recursion deep.
const DEPTH_MAX: u32 = 8;

/// The tables of the file. `None` if the text is not TOML; `findings` then has the syntax errors.
pub(super) fn parse(text: &str, findings: &mut Findings<'_>) -> Option<Table> {
    let (document, faults) = DeTable::parse_recoverable(text);
    if faults.is_empty() {
        return Some(table(document.into_inner(), DEPTH_MAX));
    }
    let hint = is_ini(text).then(|| {
        "this looks like a pgbouncer.ini: docs/moving-from-pgbouncer.md says how to write the same as TOML".to_owned()
    });
    // The parser guesses after a syntax error, so only syntax errors are reported.
    for fault in faults {
        let message = format!("not valid TOML: {}", fault.message().replace('\n', ", "));
        findings.add(fault.span(), message, hint.clone(), Quote::Line);
    }
    None
}

fn table(entries: DeTable<'_>, depth_left: u32) -> Table {
    let entries = entries.into_iter().map(|(key, entry)| {
        let key = Key { place: key.span(), name: key.into_inner().into_owned() };
        (key, value(entry, depth_left))
    });
    Table { entries: entries.collect() }
}

/// `depth_left`: how many more lists and tables may be nested in this value.
fn value(spanned: Spanned<DeValue<'_>>, depth_left: u32) -> Value {
    let place = spanned.span();
    let data = match (spanned.into_inner(), depth_left.checked_sub(1)) {
        (DeValue::String(text), _) => Data::Text(text.into_owned()),
        (DeValue::Integer(number), _) => {
            Data::Integer(Integer { digits: number.as_str().to_owned(), radix: number.radix() })
        }
        (DeValue::Float(number), _) => Data::Float(number.as_str().to_owned()),
        (DeValue::Boolean(flag), _) => Data::Boolean(flag),
        (DeValue::Datetime(_), _) => Data::Other("a date"),
        (DeValue::Array(_), None) => Data::Other("a list"),
        (DeValue::Table(_), None) => Data::Other("a table"),
        (DeValue::Array(elements), Some(left)) => {
            Data::List(elements.into_iter().map(|element| value(element, left)).collect())
        }
        (DeValue::Table(entries), Some(left)) => Data::Table(table(entries, left)),
    };
    Value { data, place }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Table {
        let mut findings = Findings::new("t.toml", text);
        parse(text, &mut findings).expect("TOML")
    }

    #[test]
    fn each_kind_of_value_comes_with_its_place() {
        let text = "a = 'x'\nb = 0o7_0\nc = 1.5\nd = true\ne = [1, [2]]\nf = 1979-05-27\ng.h = 3\n";
        let table = parsed(text);
        let of = |name: &str| {
            let value = table.get(name).expect(name);
            (value.describe(), &text[value.place.clone()])
        };
        assert_eq!(of("a"), ("\"x\"".to_owned(), "'x'"));
        assert_eq!(of("b").1, "0o7_0");
        assert_eq!(table.get("b").and_then(Value::as_integer), Some(0o70));
        assert_eq!(of("c"), ("the number 1.5".to_owned(), "1.5"));
        assert_eq!(of("d"), ("true".to_owned(), "true"));
        assert_eq!(of("e"), ("a list".to_owned(), "[1, [2]]"));
        assert_eq!(of("f"), ("a date".to_owned(), "1979-05-27"));
        assert_eq!(of("g").0, "a table");
        let places: Vec<&str> = table.entries.iter().map(|(key, _)| &text[key.place.clone()]).collect();
        assert_eq!(places, ["a", "b", "c", "d", "e", "f", "g"]);
    }

    #[test]
    fn a_value_below_the_greatest_depth_is_not_read() {
        let depth = |text: &str| {
            let table = parsed(text);
            let mut value = table.get("a").expect("there");
            let mut depth = 0;
            loop {
                value = match &value.data {
                    Data::List(elements) => &elements[0],
                    Data::Table(table) => &table.entries[0].1,
                    Data::Other(name) => return (depth, *name),
                    _ => return (depth, "the end"),
                };
                depth += 1;
            }
        };
        assert_eq!(depth(&format!("a = {}1{}", "[".repeat(8), "]".repeat(8))), (8, "the end"));
        assert_eq!(depth(&format!("a = {}1{}", "[".repeat(70), "]".repeat(70))), (8, "a list"));
        assert_eq!(depth(&format!("a{} = 1", ".b".repeat(70))), (8, "a table"));
    }
}
