//! Finds the comments of a text, so that they can be put into the text that is written from its tree.

use crate::deparse::Comment;
use crate::error::ParseError;
use crate::lexer::{Lexer, TokenKind};
use crate::options::ParseOptions;

/// The comments of a text. The location of each is the end of the last token before it that is not a comment. Give
/// them to [`DeparseOptions::comments`](crate::DeparseOptions::comments).
///
/// # Errors
/// PostgreSQL's errors of the lexer. A text with a syntax error can still have comments.
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

/// As [`comments`], but for a session with the `standard_conforming_strings` of `options`, which decides where
/// strings end. The other options are ignored.
///
/// # Errors
/// As for [`comments`].
pub fn comments_with(text: &str, options: ParseOptions) -> Result<Vec<Comment>, ParseError> {
    let mut lexer =
        Lexer::new(text).comments(true).standard_conforming_strings(options.standard_conforming_strings);
    let mut comments: Vec<Comment> = Vec::new();
    // The end of the last token, and the end of the last token that is not a comment.
    let mut token_end = 0;
    let mut location = 0;
    let mut is_after_comment = false;
    while let Some(token) = lexer.next_token().map_err(|error| ParseError::from_lexer(&error, text))? {
        let (start, end) = (token.start as usize, token.end as usize);
        let newlines = newlines_in(text, token_end, start);
        if is_after_comment && let Some(comment) = comments.last_mut() {
            comment.newlines_after = newlines;
        }
        is_after_comment = matches!(token.kind, TokenKind::LineComment | TokenKind::BlockComment);
        if is_after_comment {
            // Newlines between two comments belong to the first one.
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
