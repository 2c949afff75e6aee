//! Compares with libpg_query: the comments that are found in a text, and SQL from its tree with these comments.

#[path = "deparse_more/faithful.rs"]
mod faithful;

use faithful::{is_of, same_or_better};
use trunkline_parity::corpus::Statement;
use trunkline_parity::{compare, oracle, same_value};
use trunkline_parser::lexer::Lexer;
use trunkline_parser::{Comment, DeparseOptions, comments, parse};

/// Texts that are put between tokens, so that there are comments of all kinds at all places.
const COMMENTS: [&str; 5] =
    [" /* one */ ", "\n-- two\n", "\n\n/* three\n  /* four */ */\n", " -- five\n\n-- six\n/**/", "\n"];
/// A comment is put after so many tokens.
const TOKENS_BETWEEN: usize = 3;
/// One of so many statements is combined with others. All of them would only take more time.
const SEVERAL_EVERY: u32 = 8;
/// One of so many statements is written in one line, for the same reason.
const ONE_LINE_EVERY: u32 = 4;

/// The statement with comments between its tokens. Its line number decides which comments, and where.
fn with_comments(statement: &Statement) -> String {
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

/// Checks that both find the same comments, or refuse the text with the same error.
fn check_found_comments(sql: &str) -> Result<(), String> {
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

/// Checks that both write the same SQL from a text's tree, with its comments.
fn check_written_comments(sql: &str, pretty: bool) -> Result<(), String> {
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
fn comments_are_found() {
    compare("comments found", |statement| {
        check_found_comments(&statement.sql)?;
        check_found_comments(&with_comments(statement))
    });
}

#[test]
fn comments_are_written_in_laid_out_sql() {
    compare("comments put back, laid out", |statement| {
        // Statements without a comment are compared in `deparse.rs`.
        if statement.sql.contains("--") || statement.sql.contains("/*") {
            check_written_comments(&statement.sql, true)?;
        }
        check_written_comments(&with_comments(statement), true)
    });
}

#[test]
fn comments_are_written_in_one_line() {
    compare("comments put back, in one line", |statement| match statement.line % ONE_LINE_EVERY {
        0 => check_written_comments(&with_comments(statement), false),
        _ => Ok(()),
    });
}

/// Each statement of a text gets its own comments.
#[test]
fn comments_of_several_statements_are_written() {
    compare("comments of several statements", |statement| {
        if !statement.line.is_multiple_of(SEVERAL_EVERY) {
            return Ok(());
        }
        let one = with_comments(statement);
        let one = one.trim_end().trim_end_matches(';');
        let several =
            format!("-- first\n{one}; -- behind\n/* before */ SELECT 1 /* within */\n;\n{one}\n-- last");
        check_written_comments(&several, true)
    });
}

/// A comment at the end of a line stays there, and the SQL with all comments has the same tree.
#[test]
fn comments_stay_after_the_text_that_they_follow() {
    compare("comments that stay with what they follow", |statement| {
        if !statement.line.is_multiple_of(SEVERAL_EVERY) {
            return Ok(());
        }
        let sql = with_comments(statement);
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

/// The text after a `--` comment must not become a part of the comment, as it does in libpg_query.
#[test]
fn comments_do_not_swallow_the_following_text() {
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
