//! A quick check that a text does not change its session.
//!
//! A parse costs four times as many instructions as all our other work for a simple transaction. Many applications put
//! literals into their texts, so most texts come only once. A text that begins with one of the words below needs no parse.

use memchr::{memchr, memchr_iter, memchr2_iter};
use trunkline_parser::lexer::{Lexer, TokenKind};

/// A statement that begins with one of these words changes only rows, unless it calls `set_config()` or has an INTO.
const WORDS: [&str; 17] = [
    "select", "insert", "update", "delete", "merge", "with", "values", "table", "fetch", "move", "close",
    "declare", "copy", "show", "lock", "truncate", "notify",
];

/// Whether a text is one statement that changes no settings, prepared statements or definitions, as far as its text
/// tells. This is true under all encodings and settings, because no byte within a longer character is a semicolon.
pub(super) fn leaves_session_unchanged(text: &[u8]) -> bool {
    let word = first_word(text);
    WORDS.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
        && memchr(b';', text).is_none_or(|at| text[at + 1..].trim_ascii().is_empty())
        && !mentions_settings(text)
        && !has_into(text, word)
}

/// The first word of a text, after comments. Empty if the text begins with something else.
pub(super) fn first_word(text: &[u8]) -> &[u8] {
    let start = text.trim_ascii_start();
    if matches!(start.first(), Some(b'-' | b'/')) {
        let token = Lexer::new(start).next().and_then(Result::ok);
        return token.filter(|token| token.kind == TokenKind::Word).map_or(b"", |token| token.bytes(start));
    }
    let length = start.iter().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(start.len());
    &start[..length]
}

/// Whether the text has `set_config` or `pg_settings` anywhere (an UPDATE of that view sets parameters), or may have
/// one of them in the form `U&"..."` with the codes of its letters.
fn mentions_settings(text: &[u8]) -> bool {
    let stands = |at: usize, before: usize, word: &[u8]| {
        let from = at.checked_sub(before);
        from.and_then(|from| text.get(from..from + word.len()))
            .is_some_and(|it| it.eq_ignore_ascii_case(word))
    };
    memchr_iter(b'_', text).any(|at| stands(at, 3, b"set_config") || stands(at, 2, b"pg_settings"))
        || memchr_iter(b'&', text).any(|at| text.get(at + 1) == Some(&b'"'))
}

/// Whether the text has an INTO anywhere, which may create a table. A text that begins with INSERT or MERGE does not count.
fn has_into(text: &[u8], first: &[u8]) -> bool {
    !first.eq_ignore_ascii_case(b"insert")
        && !first.eq_ignore_ascii_case(b"merge")
        && memchr2_iter(b'i', b'I', text)
            .any(|at| text.get(at + 1..at + 4).is_some_and(|rest| rest.eq_ignore_ascii_case(b"nto")))
}

#[cfg(test)]
mod tests {
    use super::leaves_session_unchanged;

    #[test]
    fn texts_that_only_read_and_write_rows_need_no_parse() {
        for text in [
            "select 1",
            " SELECT 'a' ; ",
            "/* c */ -- d\n select 1",
            "insert into t values (1)",
            "with x as (select 1) table x",
        ] {
            assert!(leaves_session_unchanged(text.as_bytes()), "{text}");
        }
        for text in [
            "",
            "begin",
            "selecting",
            "(select 1)",
            "select 1; reset all",
            "select ';'",
            "select set_config('a', 'b', false)",
            "select pg_catalog.SET_CONFIG('a', 'b', false)",
            r#"select U&"\0073et\005fconfig"('a', 'b', false)"#,
            "select 1 into t",
            "update pg_settings set setting = 'a' where name = 'b'",
            "explain select 1",
        ] {
            assert!(!leaves_session_unchanged(text.as_bytes()), "{text}");
        }
    }
}
