//! One statement's tokens, cut out of a text.

use trunkline_parser::lexer::{Lexer, Token, TokenKind};

use crate::parameters::canonical_name;

/// Tokens kept of a statement: more than any command needs that is understood here.
const HEAD_TOKENS: usize = 32;

/// The beginning of a statement.
pub(super) struct Head<'a> {
    text: &'a [u8],
    tokens: Vec<Token>,
    /// Where the statement begins and ends.
    pub(super) range: std::ops::Range<usize>,
    /// It has an INTO that is not of INSERT or MERGE, or CREATE behind EXPLAIN.
    pub(super) makes_table: bool,
}

/// The statements of a text, empty ones left out. The last is `Err` where the text cannot be read on.
pub(super) fn statements<'a>(
    text: &'a [u8],
    standard_conforming_strings: bool,
) -> impl Iterator<Item = Result<Head<'a>, ()>> {
    let mut lexer = Lexer::new(text).standard_conforming_strings(standard_conforming_strings);
    let mut over = false;
    std::iter::from_fn(move || {
        while !over {
            let begin = lexer.position();
            let mut tokens: Vec<Token> = Vec::new();
            let (mut before, mut makes_table) = (None::<Token>, false);
            let end = loop {
                let next = lexer.next_token();
                if let Ok(Some(token)) = &next {
                    makes_table |=
                        is_making(token.bytes(text), before.map(|before| before.bytes(text)), token.kind);
                    before = Some(*token);
                }
                match next {
                    Ok(Some(token)) if token.kind == TokenKind::Symbol && token.bytes(text) == b";" => {
                        break token.start as usize;
                    }
                    Ok(Some(token)) if tokens.len() < HEAD_TOKENS => tokens.push(token),
                    Ok(Some(_)) => {}
                    Ok(None) => {
                        over = true;
                        break text.len();
                    }
                    Err(_) => {
                        over = true;
                        return Some(Err(()));
                    }
                }
            };
            if !tokens.is_empty() {
                return Some(Ok(Head { text, tokens, range: begin..end, makes_table }));
            }
        }
        None
    })
}

/// Whether a token shows that its statement makes a table.
fn is_making(token: &[u8], before: Option<&[u8]>, kind: TokenKind) -> bool {
    let is = |token: &[u8], word: &str| token.eq_ignore_ascii_case(word.as_bytes());
    let behind = |word: &str| before.is_some_and(|before| is(before, word));
    kind == TokenKind::Word
        && ((is(token, "into") && !behind("insert") && !behind("merge"))
            || (is(token, "create") && (behind("analyze") || behind("explain") || behind(")"))))
}

impl Head<'_> {
    fn bytes(&self, at: usize) -> &[u8] {
        self.tokens.get(at).map_or(&[], |token| token.bytes(self.text))
    }

    /// Whether the token is that word, in small letters, unquoted.
    pub(super) fn is(&self, at: usize, word: &str) -> bool {
        self.bytes(at).eq_ignore_ascii_case(word.as_bytes())
    }

    /// The first word in small letters; empty when the statement begins otherwise.
    pub(super) fn first_word(&self) -> String {
        let is_word = self.tokens.first().is_some_and(|token| token.kind == TokenKind::Word);
        if is_word { String::from_utf8_lossy(self.bytes(0)).to_ascii_lowercase() } else { String::new() }
    }

    /// A parameter's name at `at` (`a`, `"a"`, `a.b`), as the server spells it, and the place behind it.
    pub(super) fn parameter(&self, at: usize) -> Option<(Box<str>, usize)> {
        let part = |at: usize| {
            let token = self.tokens.get(at)?;
            let bytes = token.bytes(self.text);
            match token.kind {
                TokenKind::Word => Some(String::from_utf8_lossy(bytes).into_owned()),
                TokenKind::QuotedIdent => {
                    let inner = bytes.get(1..bytes.len().checked_sub(1)?)?;
                    Some(String::from_utf8_lossy(inner).into_owned())
                }
                _ => None,
            }
        };
        let mut name = part(at)?;
        let mut behind = at + 1;
        while self.is(behind, ".")
            && let Some(next) = part(behind + 1)
        {
            name = format!("{name}.{next}");
            behind += 2;
        }
        Some((canonical_name(&name).into(), behind))
    }
}
