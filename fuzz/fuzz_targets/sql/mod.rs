//! Checks of a tree that several targets make.
#![allow(dead_code, reason = "no target needs all of it")]

use trunkline_parser::node::{Fields, Node, Value};
use trunkline_parser::{
    DeparseOptions, FingerprintOptions, Mode, ParseError, ParseOptions, ParsedSql, Path, Step, comments,
};

/// The parse options from the first byte of an input, and the text after it.
pub fn options_and_text(input: &[u8]) -> Option<(ParseOptions, &str)> {
    let (&bits, text) = input.split_first()?;
    let modes = [
        Mode::Statements,
        Mode::TypeName,
        Mode::PlpgsqlExpression,
        Mode::PlpgsqlAssign1,
        Mode::PlpgsqlAssign2,
        Mode::PlpgsqlAssign3,
    ];
    // Seeds begin with a letter or digit, so that people can read them. These bytes select `Mode::Statements`.
    let mode = modes.get(usize::from(bits >> 2) % 16).copied().unwrap_or_default();
    let options = ParseOptions {
        mode,
        standard_conforming_strings: bits & 1 == 0,
        backslash_quote: bits & 2 == 0,
        ..ParseOptions::default()
    };
    Some((options, std::str::from_utf8(text).ok()?))
}

/// An error has a message and a place, and the place is in the text.
pub fn check_error(error: &ParseError, text: &str) {
    assert!(!error.message().is_empty());
    assert!(error.sqlstate().as_str().bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase()));
    assert_eq!(error.position().is_some(), error.cursor() > 0, "{error}");
    if let Some(position) = error.position() {
        assert!(position <= text.len(), "{error}");
        assert!(text.is_char_boundary(position), "{error}");
        let before = text[..position].chars().count();
        assert_eq!(before + 1, error.cursor() as usize, "{error}");
    }
    let _ = format!("{error} {error:?}");
}

/// Calls every function that only reads the tree. `text` need not be the text from which the tree was parsed.
pub fn read_all(tree: &ParsedSql, text: &str) {
    let mut visited = 0usize;
    tree.walk(&mut |node: Node<'_>, path: &Path<'_, '_>| {
        visited += 1;
        assert_eq!(path.parent().is_none(), path.depth() == 0);
        assert_eq!(path.links().count(), path.depth() + 1);
        let _ = (path.field(), path.index());
        check_strings(node.fields());
        Step::Into
    });
    assert_eq!(tree.nodes().count(), visited);
    let json = tree.to_json();
    assert!(std::str::from_utf8(json.as_bytes()).is_ok());
    assert!(json.starts_with("{\"version\":"));
    let _ = format!("{tree:?}").len() + format!("{tree:#?}").len();
    assert_eq!(tree.fingerprint(), tree.fingerprint_with(FingerprintOptions::default()));
    let _ = (tree.classify(), tree.subjects().count(), tree.is_utility().count());
    let _ = format!("{:?}", tree.references());
    let _ = tree.summary().map(|summary| format!("{summary:?}"));
    let _ = tree.normalize(text).len() + tree.normalize_utility(text).len();
    let _ = [0, 20, 100].map(|bytes_max| tree.truncate(bytes_max));
    for range in tree.split(text) {
        assert!(text.get(range.clone()).is_some(), "{range:?}");
    }
}

/// Views return strings of C as `str` without a check of their encoding, so it is checked here.
fn check_strings(fields: Fields<'_>) {
    for (info, value) in fields {
        match value {
            Value::Str(Some(text)) => {
                assert!(
                    std::str::from_utf8(text.as_bytes()).is_ok(),
                    "{}: {:?}",
                    info.name(),
                    text.as_bytes()
                );
            }
            Value::Inner(fields) => check_strings(fields),
            _ => {}
        }
    }
}

/// The layouts in which SQL is written. The last one includes the text's comments.
pub fn layouts(text: &str) -> Vec<DeparseOptions> {
    let pretty = DeparseOptions { pretty: true, ..DeparseOptions::default() };
    let narrow = DeparseOptions {
        indent: 1,
        line_length_max: 10,
        trailing_newline: true,
        commas_first: true,
        ..pretty.clone()
    };
    let commented = DeparseOptions { comments: comments(text).unwrap_or_default(), ..pretty.clone() };
    vec![DeparseOptions::default(), pretty, narrow, commented]
}
