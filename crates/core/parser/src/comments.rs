//! The comments of a text, for a text that is written from its tree.

use crate::deparse::Comment;
use crate::error::ParseError;
use crate::lexer::{Lexer, TokenKind};
use crate::options::ParseOptions;

/// The comments of a text, each with the place of its statement where it belongs: after the last token before it that
/// is not a comment. [`DeparseOptions::comments`](crate::DeparseOptions::comments) takes them.
///
/// # Errors
/// What PostgreSQL says is wrong with the letters of the text; one that has no parse tree may have comments all the same.
///
/// ```
/// let text = "SELECT 1 -- one\n";
/// let comments = trunkline_parser::comments(text)?;
/// assert_eq!(comments[0].text, "-- one");
/// assert_eq!(comments[0].location, 8);
/// # Ok::<(), trunkline_parser::ParseError>(())
/// ```
pub fn comments(text: &str) -> Result<Vec<Comment>, ParseError> {
    comments_with(text, ParseOptions::default())
}

/// As [`comments`], of a text of a session whose `standard_conforming_strings` is that of `options`: it decides where strings
/// end. No other option matters.
///
/// # Errors
/// As of [`comments`].
pub fn comments_with(text: &str, options: ParseOptions) -> Result<Vec<Comment>, ParseError> {
    let mut lexer =
        Lexer::new(text).comments(true).standard_conforming_strings(options.standard_conforming_strings);
    let mut comments: Vec<Comment> = Vec::new();
    // Where the last token ended, and the last that is no comment.
    let mut token_end = 0;
    let mut location = 0;
    let mut is_after_comment = false;
    while let Some(token) = lexer.next_token().map_err(|error| ParseError::of_lexer(&error, text))? {
        let (start, end) = (token.start as usize, token.end as usize);
        let newlines = newlines_in(text, token_end, start);
        if is_after_comment && let Some(comment) = comments.last_mut() {
            comment.newlines_after = newlines;
        }
        is_after_comment = matches!(token.kind, TokenKind::LineComment | TokenKind::BlockComment);
        if is_after_comment {
            // Newlines between two comments are the first one's.
            let newlines_before = if token_end == location { newlines } else { 0 };
            let text = text.get(start..end).unwrap_or_default().to_owned();
            comments.push(Comment { location, newlines_before, newlines_after: 0, text });
        } else {
            location = end;
        }
        token_end = end;
    }
    Ok(comments)
}

fn newlines_in(text: &str, from: usize, to: usize) -> usize {
    let gap = text.as_bytes().get(from..to).unwrap_or_default();
    gap.iter().filter(|byte| **byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::{ParseOptions, comments, comments_with};

    #[test]
    fn the_session_decides_where_a_string_ends() {
        let text = r"SELECT 'a\' -- b', c -- d";
        assert_eq!(comments(text).expect("it is of tokens")[0].text, "-- b', c -- d");
        let off = ParseOptions { standard_conforming_strings: false, ..ParseOptions::default() };
        assert_eq!(comments_with(text, off).expect("it is of tokens")[0].text, "-- d");
    }
}
