//! Makes random texts from tokens of the corpus's statements.

use std::sync::Arc;

use trunkline_parity::Statement;
use trunkline_parity::corpus::corpus;
use trunkline_parser::lexer::keywords;
use trunkline_parser::scan;

use super::random::Random;

/// The most tokens of a statement that is used. In longer ones, most changes would only cause errors.
const TOKENS_MAX: usize = 120;
/// Tokens, besides the keywords, that the statements contain too seldom.
const WORDS: [&str; 44] = [
    "\"A\"",
    "\"a b\"",
    "\"select\"",
    "a.b",
    "a.*",
    "pg_catalog.int4",
    "1",
    "-1",
    "1.5",
    "1e10",
    "0x1F",
    "99999999999",
    "'x'",
    "''",
    "E'\\n'",
    "b'1'",
    "x'f'",
    "N'x'",
    "$1",
    "(",
    ")",
    "[",
    "]",
    ",",
    ".",
    "::",
    ":=",
    "=>",
    "->",
    "+",
    "-",
    "*",
    "/",
    "||",
    "<",
    ">",
    "=",
    "<>",
    "~~",
    "@>",
    "%",
    "interval(3) '1'",
    "operator(pg_catalog.+)",
    "a123456789012345678901234567890123456789012345678901234567890123",
];

/// Makes texts, by a seed.
pub(crate) struct Mutator {
    statements: Vec<Vec<&'static str>>,
    words: Vec<&'static str>,
    /// The name that reports show as the texts' file.
    file: Arc<str>,
    made: u32,
    random: Random,
}

impl Mutator {
    pub(crate) fn new(seed: u64) -> Self {
        let statements = corpus().iter().filter_map(|statement| {
            let tokens = scan(&statement.sql).ok()?;
            let text =
                |start: u32, end: u32| statement.sql.get(start as usize..end as usize).unwrap_or_default();
            // A `--` comment would swallow the tokens after it, because all are put on one line.
            let texts = tokens
                .iter()
                .map(|token| text(token.start, token.end))
                .filter(|text| !text.starts_with("--"));
            Some(texts.collect::<Vec<_>>()).filter(|tokens| (2..TOKENS_MAX).contains(&tokens.len()))
        });
        let words = WORDS.into_iter().chain(keywords().iter().map(|keyword| keyword.name));
        Self {
            statements: statements.collect(),
            words: words.collect(),
            file: Arc::from(format!("seed {seed}")),
            made: 0,
            random: Random::new(seed),
        }
    }

    /// Adjacent tokens of another statement.
    fn piece(&mut self) -> Vec<&'static str> {
        let statement = &self.statements[self.random.below(self.statements.len())];
        let start = self.random.below(statement.len());
        let length = 1 + self.random.below(8);
        statement.iter().skip(start).take(length).copied().collect()
    }

    /// The next text. Its line is its number.
    pub(crate) fn statement(&mut self) -> Statement {
        self.made += 1;
        Statement { file: Arc::clone(&self.file), line: self.made, sql: self.text() }
    }

    fn text(&mut self) -> String {
        let mut tokens = self.statements[self.random.below(self.statements.len())].clone();
        for _ in 0..=self.random.below(3) {
            let at = self.random.below(tokens.len());
            let end = (at + 1 + self.random.below(4)).min(tokens.len());
            match self.random.below(7) {
                0 => drop(tokens.remove(at)),
                1 => tokens[at] = self.random.pick(&self.words),
                2 => tokens.insert(at, self.random.pick(&self.words)),
                3 => tokens.swap(at, end - 1),
                4 => drop(tokens.splice(at..at, self.piece())),
                5 => drop(tokens.splice(at..end, self.piece())),
                _ => tokens.extend_from_within(at..end),
            }
            if tokens.is_empty() {
                tokens.push("select");
            }
        }
        tokens.join(" ")
    }
}
