//! Texts on which PostgreSQL's own lexer takes time in the square of their length.
//!
//! flex matches a run of operator characters to its end before PostgreSQL's rules cut it: `+ + +` without the spaces
//! is read again for each `+`, and `/*/*/*` for each comment within the comment. A megabyte of either takes PostgreSQL
//! hours. Here such a text is found before C sees it. Within comments, what looks like comments is blanked out, which
//! leaves the tree and all places in it as they were; outside, that many operators are more than the grammar's stack
//! holds.

use crate::error::{ParseError, SqlState};
use crate::lexer::class::{OPERATOR, byte, is, run_end};
use crate::lexer::{LexError, Lexer, TokenKind};
use crate::options::ParseOptions;

/// Shorter texts are read as they are: the square of this is little.
const TEXT_BYTES_MIN: usize = 4096;
/// A run of twice as many operator characters is found by looking at one byte in this many.
const SAMPLE: usize = 32;
/// How many bytes flex may read more than once, over runs of operator characters: some tenths of a second.
pub const OPERATOR_RUN_WORK_MAX: usize = 1 << 28;

/// How C is to be given a text.
pub(crate) enum Tamed {
    /// As it is.
    AsItIs,
    /// This one instead, of the same length.
    Instead(String),
    /// Only this many bytes of it (or of the other), since the lexer's error follows; an error in them comes first.
    Until(Option<String>, usize, LexError),
}

/// Looks for text over which flex would take long.
pub(crate) fn tame(text: &str, options: ParseOptions) -> Result<Tamed, ParseError> {
    if text.len() < TEXT_BYTES_MIN || !may_have_long_run(text.as_bytes()) {
        return Ok(Tamed::AsItIs);
    }
    measure(text, options)
}

fn may_have_long_run(text: &[u8]) -> bool {
    let mut before = false;
    for sample in text.iter().step_by(SAMPLE) {
        let now = is(*sample, OPERATOR);
        if now && before {
            return true;
        }
        before = now;
    }
    false
}

/// What flex reads more than once.
struct Work<'a> {
    text: &'a [u8],
    /// Where the run ends that was measured last.
    run_end: usize,
    bytes: usize,
}

impl Work<'_> {
    /// A token begins at `at`: flex reads to the end of the run.
    fn token(&mut self, at: usize) {
        if at >= self.run_end {
            self.run_end = run_end(self.text, at, OPERATOR);
        }
        self.bytes = self.bytes.saturating_add(self.run_end - at);
    }
}

fn measure(text: &str, options: ParseOptions) -> Result<Tamed, ParseError> {
    let bytes = text.as_bytes();
    let mut lexer =
        Lexer::new(text).comments(true).standard_conforming_strings(options.standard_conforming_strings);
    let mut outside = Work { text: bytes, run_end: 0, bytes: 0 };
    let mut inside = Work { text: bytes, run_end: 0, bytes: 0 };
    let mut nested = Vec::new();
    let error = loop {
        let token = match lexer.next_token() {
            Ok(Some(token)) => token,
            Ok(None) => break None,
            Err(error) => break Some(error),
        };
        let (start, end) = (token.start as usize, token.end as usize);
        match token.kind {
            TokenKind::BlockComment => {
                let before = nested.len();
                comments_within(bytes, start + 2, end, &mut inside, &mut nested);
                if nested.len() > before {
                    outside.token(start);
                }
            }
            _ if is(byte(bytes, start), OPERATOR) => outside.token(start),
            _ => {}
        }
        if outside.bytes > OPERATOR_RUN_WORK_MAX {
            let message = "too many operator characters in a row";
            return Err(ParseError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message, Some((text, start))));
        }
    };
    let instead = (inside.bytes > OPERATOR_RUN_WORK_MAX).then(|| blanked(text, &nested));
    Ok(match (error, instead) {
        // What is wrong may itself be such a run, as far as the end of the text.
        (Some(error), instead) => {
            let until = error.position as usize;
            Tamed::Until(instead, until, error)
        }
        (None, Some(instead)) => Tamed::Instead(instead),
        (None, None) => Tamed::AsItIs,
    })
}

/// Notes where comments begin and end within the comment whose inside begins at `from`.
fn comments_within(text: &[u8], from: usize, end: usize, work: &mut Work<'_>, nested: &mut Vec<usize>) {
    let mut at = from;
    // The last two bytes are the `*/` of the comment itself.
    while at + 2 < end {
        match (byte(text, at), byte(text, at + 1)) {
            (b'/', b'*') => {
                work.token(at);
                nested.push(at);
                at += 2;
            }
            (b'*', b'/') => {
                nested.push(at);
                at += 2;
            }
            _ => at += 1,
        }
    }
}

/// The text with two spaces at each of these places.
fn blanked(text: &str, places: &[usize]) -> String {
    let mut blanked = String::with_capacity(text.len());
    let mut from = 0;
    for place in places {
        blanked.push_str(text.get(from..*place).unwrap_or_default());
        blanked.push_str("  ");
        from = place + 2;
    }
    blanked.push_str(text.get(from..).unwrap_or_default());
    blanked
}

#[cfg(test)]
mod tests {
    use crate::parse;

    #[test]
    fn nested_comments_are_read_in_linear_time() {
        let depth = 100_000;
        let text = format!("SELECT {}é{} 1, 2 +", "/*".repeat(depth), "*/".repeat(depth));
        let error = parse(&text).err();
        let error = error.as_ref();
        assert_eq!(error.map(|error| error.message()), Some("syntax error at end of input"));
        assert_eq!(error.and_then(|error| error.position()), Some(text.len()));
        let text = text.trim_end_matches('+');
        let tree = parse(text).map(|tree| tree.to_json());
        let plain = format!("SELECT /*{}*/ 1, 2 ", " ".repeat(depth * 4 - 4 + "é".len()));
        assert_eq!(plain.len(), text.len());
        let same = parse(&plain).map(|tree| tree.to_json());
        assert_eq!(tree, same);
    }

    #[test]
    fn an_unterminated_comment_is_reported() {
        let text = format!("SELECT 1 {}", "/*".repeat(100_000));
        let error = parse(&text).err();
        assert!(
            error
                .as_ref()
                .is_some_and(|error| error.message().starts_with("unterminated /* comment at or near"))
        );
        assert_eq!(error.and_then(|error| error.position()), Some(9));
        let text = format!("SELECT FROM FROM {}", "/*".repeat(100_000));
        let error = parse(&text).err();
        assert_eq!(error.as_ref().map(|error| error.message()), Some("syntax error at or near \"FROM\""));
    }

    #[test]
    fn too_many_signs_are_refused() {
        let error = parse(&format!("SELECT {}1", "+".repeat(1_000_000))).err();
        assert_eq!(error.as_ref().map(|error| error.sqlstate().to_string()).as_deref(), Some("54000"));
        assert!(parse(&format!("SELECT {}1", "+".repeat(5000))).is_ok());
        assert!(parse(&format!("SELECT 1 -- {}\n", "-+".repeat(1_000_000))).is_ok());
        assert!(parse(&format!("SELECT '{}'", "/*".repeat(1_000_000))).is_ok());
    }
}
