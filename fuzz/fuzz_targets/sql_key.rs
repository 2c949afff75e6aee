//! Our lexer finds the same tokens and errors as PostgreSQL's. Texts with the same key have the same tree, except for literals.
//!
//! Input: a byte of options, a byte that says how to change the text, and the text, or two texts with a byte 255 between them.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trunkline_parser::key::{KeyBuffer, Literal, LiteralClass, ScanKey, scan_key_with};
use trunkline_parser::node::{Node, NodeTag, Value};
use trunkline_parser::{ParseOptions, ParsedSql, parse_with, scan_by_c, scan_with};

fuzz_target!(|input: &[u8]| {
    let [bits, change, ..] = *input else { return };
    let options = ParseOptions { standard_conforming_strings: bits & 1 == 0, ..ParseOptions::default() };
    let mut texts = input[2..].splitn(2, |byte| *byte == 255).map(std::str::from_utf8);
    let Some(Ok(text)) = texts.next() else { return };
    check_tokens(text, options);
    let Some((key, literals)) = key(text, options) else { return };
    let other = changed(text, &literals, change);
    check_tokens(&other, options);
    if self::key(&other, options).is_some_and(|(found, _)| found == key) {
        check_same_statement(text, &other, options, change % 4 < 2);
    }
    if let Some(Ok(other)) = texts.next()
        && self::key(other, options).is_some_and(|(found, _)| found == key)
    {
        check_same_statement(text, other, options, false);
    }
});

/// Compares the tokens of both lexers with their places, or their errors.
fn check_tokens(text: &str, options: ParseOptions) {
    match (scan_by_c(text, options), scan_with(text, options)) {
        (Ok(expected), Ok(found)) => assert_eq!(expected, found),
        (Err(expected), Err(found)) => {
            assert_eq!(expected.message(), found.message());
            assert_eq!(
                (expected.cursor(), expected.position()),
                (found.cursor(), found.position()),
                "{expected}"
            );
            assert_eq!(expected.sqlstate(), found.sqlstate(), "{expected}");
        }
        (expected, found) => panic!("expected {expected:?}\nfound    {found:?}"),
    }
}

fn key(text: &str, options: ParseOptions) -> Option<(Vec<u8>, Vec<Literal>)> {
    let mut buffer = KeyBuffer::new();
    let ScanKey::Sure(key) = scan_key_with(text, &mut buffer, options.standard_conforming_strings) else {
        return None;
    };
    let mut end = 0;
    for literal in key.literals {
        assert!(literal.start >= end && literal.start < literal.end, "{literal:?}");
        end = literal.end;
        assert!(text.get(literal.start as usize..literal.end as usize).is_some(), "{literal:?}");
    }
    Some((key.bytes.to_vec(), key.literals.to_vec()))
}

/// The text with other values in all literals (0) or in one (1), with one literal twice (2), or with capitals and more white
/// space (3).
fn changed(text: &str, literals: &[Literal], change: u8) -> String {
    if change % 4 == 3 {
        return with_capitals_and_spaces(text);
    }
    let chosen = usize::from(change / 4);
    let mut out = String::new();
    let mut copied = 0;
    for (index, literal) in literals.iter().enumerate() {
        let (start, end) = (literal.start as usize, literal.end as usize);
        if change % 4 == 1 && index != chosen % literals.len() || copied > start {
            continue;
        }
        out.push_str(&text[copied..start]);
        // A word before the literal may be the N of `N'...'`, so it stays attached. Anything else may be the end of another
        // string, and without a space the two strings would become one.
        if !out.ends_with(|before: char| before.is_alphanumeric()) {
            out.push(' ');
        }
        let twice = change % 4 == 2 && index == chosen % literals.len();
        let value = if change % 4 == 2 { &text[start..end] } else { other_value(literal.class) };
        out.push_str(value);
        if twice {
            out.push_str(", ");
            out.push_str(value);
        }
        out.push(' ');
        copied = end;
    }
    out.push_str(&text[copied..]);
    out
}

fn other_value(class: LiteralClass) -> &'static str {
    match class {
        LiteralClass::Integer => "70001",
        LiteralClass::BigInteger => "70000000001",
        LiteralClass::Float => "8.25e3",
        LiteralClass::BitString => "b'1011'",
        LiteralClass::HexString => "x'1f'",
        _ => "'other'",
    }
}

fn with_capitals_and_spaces(text: &str) -> String {
    let tokens = trunkline_parser::scan(text).unwrap_or_default();
    let mut out = String::from("/* a /* b */ ' */");
    for token in tokens {
        let word = &text[token.start as usize..token.end as usize];
        let plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let national = token.keyword.is_some() && word.len() == 1;
        let capitals = plain && !word.starts_with(|first: char| first.is_ascii_digit());
        out.push_str(&if capitals { word.to_ascii_uppercase() } else { word.to_owned() });
        out.push_str(if national { "" } else { " --'\n\t" });
    }
    out
}

/// Two texts with the same key must have the same fingerprint, or both be refused. `same_lists`: their trees may differ only in
/// the values of constants, and not in the length of lists.
fn check_same_statement(one: &str, other: &str, options: ParseOptions, same_lists: bool) {
    match (parse_with(one, options), parse_with(other, options)) {
        (Ok(first), Ok(second)) => {
            assert_eq!(first.fingerprint(), second.fingerprint(), "{one:?}\n{other:?}");
            if same_lists {
                check_trees(&first, &second, one, other);
            }
        }
        (Err(_), Err(_)) => {}
        (first, second) => panic!("{one:?}: {:?}\n{other:?}: {:?}", first.err(), second.err()),
    }
}

fn check_trees(first: &ParsedSql, second: &ParsedSql, one: &str, other: &str) {
    let (mut nodes, mut others) = (first.nodes(), second.nodes());
    loop {
        let (left, right) = match (nodes.next(), others.next()) {
            (Some(left), Some(right)) => (left, right),
            (None, None) => return,
            _ => panic!("more nodes: {one:?}\n{other:?}"),
        };
        assert_eq!(left.tag(), right.tag(), "{one:?}\n{other:?}");
        if is_constant(left) {
            nodes.skip_below();
            others.skip_below();
        } else {
            assert!(same_values(left, right), "{left:?}\n{right:?}\n{one:?}\n{other:?}");
        }
    }
}

fn is_constant(node: Node<'_>) -> bool {
    // A path of JSON_TABLE is a string in its own node. The values of other constants are nodes below them.
    matches!(node.tag(), NodeTag::AConst | NodeTag::JsonTablePathSpec)
}

fn same_values(left: Node<'_>, right: Node<'_>) -> bool {
    left.fields().zip(right.fields()).all(|((_, left), (_, right))| match (left, right) {
        (Value::Str(left), Value::Str(right)) => left == right,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Char(left), Value::Char(right)) => left == right,
        (Value::Int(left), Value::Int(right)) => left == right,
        (Value::UInt(left), Value::UInt(right)) => left == right,
        (Value::Enum(left, _), Value::Enum(right, _)) => left == right,
        (Value::List(left), Value::List(right)) => left.len() == right.len(),
        _ => true,
    })
}
