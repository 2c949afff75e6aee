//! Comments found in a text, and put back into SQL from its tree, against libpg_query's.

#[path = "deparse_more/faithful.rs"]
mod faithful;

use faithful::{is_of, same_or_better};
use trunkline_parity::corpus::Statement;
use trunkline_parity::{compare, oracle, same_value};
use trunkline_parser::lexer::Lexer;
use trunkline_parser::{Comment, DeparseOptions, comments, parse};

/// What is put between two tokens, to have comments of all kinds at all places.
const COMMENTS: [&str; 5] =
    [" /* one */ ", "\n-- two\n", "\n\n/* three\n  /* four */ */\n", " -- five\n\n-- six\n/**/", "\n"];
/// There is a comment after each run of this many tokens.
const TOKENS_BETWEEN: usize = 3;
/// One statement in this many is put together with others: the rest would only add time.
const SEVERAL_EVERY: u32 = 8;
/// One statement in this many is written in one line, for the same reason.
const ONE_LINE_EVERY: u32 = 4;

/// The statement with comments between its tokens; which and where depends on its line.
fn commented(statement: &Statement) -> String {
    let line = statement.line as usize;
    let mut text = String::new();
    let mut written = 0;
    for (index, token) in Lexer::new(&statement.sql).map_while(Result::ok).enumerate() {
        if (index + line).is_multiple_of(TOKENS_BETWEEN) {
            let start = token.start as usize;
            text.push_str(statement.sql.get(written..start).unwrap_or_default());
            text.push_str(
                COMMENTS.get((index + line) / TOKENS_BETWEEN % COMMENTS.len()).copied().unwrap_or("\n"),
            );
            written = start;
        }
    }
    text.push_str(statement.sql.get(written..).unwrap_or_default());
    text
}

/// That both find the same comments, or refuse the text for the same reason.
fn found_alike(sql: &str) -> Result<(), String> {
    let theirs = oracle::comments(sql)
        .map(|comments| {
            comments
                .into_iter()
                .map(|comment| {
                    (comment.match_location, comment.newlines_before, comment.newlines_after, comment.text)
                })
                .collect::<Vec<_>>()
        })
        .map_err(|error| (error.message, error.cursorpos));
    let number = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
    let ours = comments(sql)
        .map(|comments| {
            comments
                .into_iter()
                .map(|comment| {
                    let (before, after) = (number(comment.newlines_before), number(comment.newlines_after));
                    (number(comment.location), before, after, comment.text)
                })
                .collect::<Vec<_>>()
        })
        .map_err(|error| (error.message().to_owned(), error.cursor().cast_signed()));
    same_value(&theirs, &ours)
}

/// That a text, its comments put back into SQL from its tree, is the same.
fn written_alike(sql: &str, pretty: bool) -> Result<(), String> {
    let (Ok(tree), Ok(theirs)) = (parse(sql), oracle::comments(sql)) else { return Ok(()) };
    let options = oracle::DeparseOptions {
        comments: theirs,
        pretty_print: pretty,
        ..oracle::DeparseOptions::default()
    };
    let Ok(expected) = oracle::deparse_opts(sql, &options) else { return Ok(()) };
    let comments = comments(sql).map_err(|error| error.to_string())?;
    let options = DeparseOptions { comments, pretty, comments_follow: false, ..DeparseOptions::default() };
    let got = tree.deparse_with(&options).map_err(|error| error.to_string())?;
    same_or_better(&tree, &expected, &got)
}

#[test]
fn are_found() {
    compare("comments found", |statement| {
        found_alike(&statement.sql)?;
        found_alike(&commented(statement))
    });
}

#[test]
fn are_put_back_laid_out() {
    compare("comments put back, laid out", |statement| {
        // Statements without a comment are compared in `deparse`.
        if statement.sql.contains("--") || statement.sql.contains("/*") {
            written_alike(&statement.sql, true)?;
        }
        written_alike(&commented(statement), true)
    });
}

#[test]
fn are_put_back_in_one_line() {
    compare("comments put back, in one line", |statement| match statement.line % ONE_LINE_EVERY {
        0 => written_alike(&commented(statement), false),
        _ => Ok(()),
    });
}

/// Each statement of several has its own.
#[test]
fn are_put_back_into_several_statements() {
    compare("comments of several statements", |statement| {
        if !statement.line.is_multiple_of(SEVERAL_EVERY) {
            return Ok(());
        }
        let one = commented(statement);
        let one = one.trim_end().trim_end_matches(';');
        let several =
            format!("-- first\n{one}; -- behind\n/* before */ SELECT 1 /* within */\n;\n{one}\n-- last");
        written_alike(&several, true)
    });
}

/// What stands at the end of a line stays there, and all comments are put back into SQL of the same tree.
#[test]
fn stay_with_what_they_follow() {
    compare("comments that stay with what they follow", |statement| {
        if !statement.line.is_multiple_of(SEVERAL_EVERY) {
            return Ok(());
        }
        let sql = commented(statement);
        let Ok(tree) = parse(&sql) else { return Ok(()) };
        let options = DeparseOptions {
            comments: comments(&sql).map_err(|error| error.to_string())?,
            pretty: true,
            ..DeparseOptions::default()
        };
        let text = tree.deparse_with(&options).map_err(|error| error.to_string())?;
        is_of(&tree, &text)?;
        let found = comments(&text).map_err(|error| error.to_string())?;
        let texts =
            |comments: &[Comment]| comments.iter().map(|comment| comment.text.clone()).collect::<Vec<_>>();
        same_value(&texts(&options.comments), &texts(&found))
    });
}

/// A comment that goes on to the end of its line does not take with it what comes next, as libpg_query's does.
#[test]
fn do_not_swallow_what_follows_them() {
    for sql in
        ["SELECT 1 -- one\n; SELECT 2", "SELECT 1, -- one\r 2 -- two\r FROM t -- three", "SELECT 1; -- one\n"]
    {
        let tree = parse(sql).expect("it is SQL");
        for pretty in [false, true] {
            let options = DeparseOptions {
                comments: comments(sql).expect("it has comments"),
                pretty,
                ..DeparseOptions::default()
            };
            let text = tree.deparse_with(&options).expect("it has a text");
            assert_eq!(is_of(&tree, &text), Ok(()));
            assert_eq!(text.matches("--").count(), options.comments.len(), "{text}");
        }
    }
}
