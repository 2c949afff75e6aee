//! Writes `quoting.rs`: the keywords that an identifier may not be, not without quotes everywhere.

use std::fmt::Write as _;

use pg_query_headers::{Category, Model};

/// So many buckets, a power of two: four for each keyword, about.
const BUCKETS: usize = 512;

/// Must be as in `src/deparse/keyword.rs`.
fn bucket(name: &str) -> usize {
    let bytes = name.as_bytes();
    let at = |place: usize| bytes.get(place).copied().map_or(0, usize::from);
    (at(0) + 5 * at(1) + 31 * at(bytes.len() / 2) + 67 * at(bytes.len() - 1) + 11 * bytes.len()) % BUCKETS
}

/// The text of `quoting.rs`: `KEYWORDS` by bucket, and `STARTS`, where in it each bucket begins.
pub(crate) fn text(model: &Model) -> String {
    let mut keywords: Vec<_> =
        model.keywords.iter().filter(|keyword| keyword.category != Category::Unreserved).collect();
    keywords.sort_by_key(|keyword| bucket(&keyword.name));
    let mut text = format!("static KEYWORDS: [(&str, Use); {}] = [\n", keywords.len());
    // Writing to a String cannot fail.
    for keyword in &keywords {
        let _ = writeln!(text, "    (\"{}\", Use::{:?}),", keyword.name, keyword.category);
    }
    let _ = writeln!(text, "];\n\nstatic STARTS: [u16; {}] = [", BUCKETS + 1);
    for number in 0..=BUCKETS {
        let _ = write!(text, "{}, ", keywords.partition_point(|keyword| bucket(&keyword.name) < number));
    }
    text.push_str("\n];\n");
    text
}
