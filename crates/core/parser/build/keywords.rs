//! Writes `keywords.rs`: SQL's keywords by hash bucket, and the numbers of the grammar's tokens.

use std::error::Error;
use std::fmt::Write as _;

use pg_query_headers::{Category, Keyword, Model};

#[path = "../src/lexer/bucket.rs"]
mod bucket;
use bucket::{BUCKET_BITS, bucket};

const BUCKETS: usize = 1 << BUCKET_BITS;

/// The tokens that are not keywords, by their names in the grammar. They become constants in upper case.
const TOKENS: [&str; 20] = [
    "IDENT",
    "UIDENT",
    "FCONST",
    "SCONST",
    "USCONST",
    "BCONST",
    "XCONST",
    "Op",
    "ICONST",
    "PARAM",
    "TYPECAST",
    "DOT_DOT",
    "COLON_EQUALS",
    "EQUALS_GREATER",
    "LESS_EQUALS",
    "GREATER_EQUALS",
    "NOT_EQUALS",
    "SQL_COMMENT",
    "C_COMMENT",
    "NCHAR",
];

/// The text of `keywords.rs`: `KEYWORDS`, ordered by bucket; `STARTS`, the index at which each bucket begins; the
/// tokens.
pub(crate) fn text(model: &Model) -> Result<String, Box<dyn Error>> {
    let number = |name: &str| {
        let token = model.tokens.iter().find(|token| token.name == name);
        token.map(|token| token.value).ok_or_else(|| format!("the grammar has no token {name}"))
    };
    let mut keywords: Vec<&Keyword> = model.keywords.iter().collect();
    keywords.sort_by_key(|keyword| bucket(keyword.name.as_bytes()));

    let mut text = format!("static KEYWORDS: [Keyword; {}] = [\n", keywords.len());
    for keyword in &keywords {
        let Keyword { name, token, bare_label, .. } = keyword;
        let kind = kind(keyword.category);
        let number = number(token)?;
        writeln!(
            text,
            "    Keyword {{ name: {name:?}, token: {token:?}, number: {number}, kind: KeywordKind::{kind}, \
             bare_label: {bare_label} }},"
        )?;
    }
    write!(text, "];\n\nstatic STARTS: [u16; {}] = [", BUCKETS + 1)?;
    for index in 0..=BUCKETS {
        let start = keywords.partition_point(|keyword| bucket(keyword.name.as_bytes()) < index);
        write!(text, "{start}, ")?;
    }
    text.push_str("\n];\n\n");
    for name in TOKENS {
        writeln!(text, "pub(super) const {}: u16 = {};", name.to_uppercase(), number(name)?)?;
    }
    Ok(text)
}

fn kind(category: Category) -> &'static str {
    match category {
        Category::Unreserved => "Unreserved",
        Category::ColumnName => "ColumnName",
        Category::TypeFunctionName => "TypeFunctionName",
        Category::Reserved => "Reserved",
    }
}
