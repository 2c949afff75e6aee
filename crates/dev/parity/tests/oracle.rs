//! Tests of the oracle, and of how much of the corpus it accepts.

use std::sync::atomic::{AtomicUsize, Ordering};

use trunkline_parity::corpus::{corpus, totals};
use trunkline_parity::{compare, oracle, same, same_value};

/// The least percentage of the corpus that must parse. PostgreSQL accepts the statements of its scripts, except for those that show
/// errors. If fewer parse, the scripts are not split as psql splits them.
const PARSED_PERCENT_MIN: usize = 99;

#[test]
fn nearly_all_of_the_corpus_parses() {
    let parsed = AtomicUsize::new(0);
    compare("oracle", |statement| {
        match oracle::json(&statement.sql) {
            Ok(_) => parsed.fetch_add(1, Ordering::Relaxed),
            Err(error) if error.message.is_empty() => return Err("an error without a message".to_owned()),
            Err(_) => 0,
        };
        Ok(())
    });
    let (parsed, all) = (parsed.into_inner(), corpus().len());
    assert!(
        parsed * 100 >= all * PARSED_PERCENT_MIN,
        "pg_query parses {parsed} of {all} statements ({:?})",
        totals()
    );
}

#[test]
fn errors_have_message_and_position() {
    let error = oracle::json("select 'é' frm x y").expect_err("no SQL");
    assert_eq!((error.message.as_str(), error.cursorpos), ("syntax error at or near \"x\"", 16));
    let error = oracle::scan("select 'a").expect_err("no end");
    assert_eq!(
        (error.message.as_str(), error.cursorpos),
        ("unterminated quoted string at or near \"'a\"", 8)
    );
}

#[test]
fn every_function_answers() -> oracle::Result<()> {
    let sql = "SELECT a /* b */ FROM t WHERE c = 'd'; COMMIT";
    assert!(oracle::json(sql)?.starts_with("{\"version\":"));
    assert_eq!(oracle::fingerprint(sql)?.1.len(), 16);
    assert_eq!(oracle::deparse(sql)?, "SELECT a FROM t WHERE c = 'd'; COMMIT");
    assert_eq!(oracle::normalize(sql)?, "SELECT a /* b */ FROM t WHERE c = $1; COMMIT");
    assert_eq!(oracle::split_with_parser(sql)?, [(0, 37), (39, 6)]);
    assert_eq!(oracle::split_with_scanner(sql)?, [(0, 37), (38, 7)]);
    assert_eq!(oracle::is_utility(sql)?, [false, true]);
    assert_eq!(oracle::summary(sql)?.tables.len(), 1);
    // If two places are equally good, the C library and the Rust crate choose different ones.
    assert_eq!(oracle::truncate(sql, 20)?, "SELECT a FROM t W...");
    assert_eq!(oracle::truncate_by_crate(sql, 20)?, "SELECT ... FROM t...");
    let tokens: Vec<_> =
        oracle::scan(sql)?.iter().map(|token| (token.name, token.start, token.keyword_kind)).collect();
    assert_eq!(tokens.get(..3), Some(&[("SELECT", 0, 4), ("IDENT", 7, 0), ("C_COMMENT", 9, 0)][..]));
    let comments = oracle::comments(sql)?;
    assert_eq!(comments.first().map(|comment| comment.text.as_str()), Some("/* b */"));
    let options =
        oracle::DeparseOptions { comments, pretty_print: true, ..oracle::DeparseOptions::default() };
    assert!(oracle::deparse_opts(sql, &options)?.contains("/* b */"));
    let function = "CREATE FUNCTION f() RETURNS int AS $$ BEGIN RETURN 1; END $$ LANGUAGE plpgsql";
    assert!(oracle::plpgsql(function)?.contains("PLpgSQL_function"));
    Ok(())
}

/// In debug builds of pg_query, a failed assertion ends the process. The oracle returns an error instead.
#[test]
fn failed_assertions_are_errors() {
    let error =
        oracle::deparse("GRANT USAGE ON PARAMETER x TO y").map_or_else(|error| error, |sql| panic!("{sql}"));
    assert!(error.is_assertion(), "{error}");
}

/// Our declarations of the C functions are right: over the corpus, they give the same results as the crate's own functions.
#[test]
fn the_crates_functions_give_the_same_results() {
    compare("crate", |statement| {
        let sql = &statement.sql;
        let fingerprint = pg_query::fingerprint(sql, 0, 0).map(|fingerprint| fingerprint.hex).ok();
        same_value(&fingerprint, &oracle::fingerprint(sql).map(|(_, hex)| hex).ok())?;
        let normalized = pg_query::normalize(sql).unwrap_or_default();
        same(&normalized, &oracle::normalize(sql).unwrap_or_default())
    });
}
