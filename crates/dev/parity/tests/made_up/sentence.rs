//! Makes random sentences of PostgreSQL's grammar.

use std::sync::Arc;

use trunkline_parity::{Statement, corpus};
use trunkline_parser::lexer::keywords;

use super::grammar::{Grammar, Symbol};
use super::random::Random;

/// Half of the sentences are one of these statements, which have the most forms. The other half is any statement.
const STARTS: [&str; 14] = [
    "SelectStmt",
    "SelectStmt",
    "a_expr",
    "a_expr",
    "a_expr",
    "InsertStmt",
    "UpdateStmt",
    "MergeStmt",
    "CreateStmt",
    "AlterTableStmt",
    "CreateFunctionStmt",
    "CopyStmt",
    "IndexStmt",
    "CreateTrigStmt",
];
/// After so many tokens, only tokens that must follow are added to a sentence.
const TOKENS: usize = 48;

const NAMES: [&str; 52] = [
    "a",
    "b",
    "c",
    "t",
    "f",
    "x1",
    "_",
    "é",
    "a$",
    "\"A\"",
    "\"a b\"",
    "\"a\"\"b\"",
    "\"1\"",
    "\"É\"",
    "\"a.b\"",
    "a12345678901234567890123456789012345678901234567890123456789012",
    "pg_catalog",
    "pg_catalog",
    "pg_catalog",
    "int4",
    "int8",
    "bpchar",
    "\"char\"",
    "\"interval\"",
    "\"bit\"",
    "varbit",
    "timestamptz",
    "point",
    "unknown",
    "btree",
    "heap",
    "csv",
    "plpgsql",
    "\"overlay\"",
    "\"position\"",
    "\"substring\"",
    "btrim",
    "timezone",
    "xpath",
    "pg_collation_for",
    "similar_to_escape",
    "is_normalized",
    "sha256",
    "fillfactor",
    "\"a\nb\"",
    "\"a\\b\"",
    "\"$a\"",
    "\"'\"",
    "\"--\"",
    "U&\"\\0041\"",
    "\"Ab\"",
    "\"-\"",
];
const STRINGS: [&str; 28] = [
    "'a.b'",
    "'\"A\"'",
    "'select'",
    "'a123456789012345678901234567890123456789012345678901234567890123'",
    "'x'",
    "''",
    "'it''s'",
    "E'a\\\\b'",
    "E'\\n'",
    "'on'",
    "'true'",
    "'false'",
    "'1'",
    "'csv'",
    "'default'",
    "'all'",
    "'A b'",
    "N'x'",
    "$$x$$",
    "U&'\\0041'",
    "'a\nb'",
    "'$$'",
    "'a$'",
    "E'\\''",
    "'é'",
    "'/*'",
    "'--'",
    "'a'\n'b'",
];
const INTEGERS: [&str; 11] = ["0", "1", "2", "3", "42", "100", "2147483647", "0x1F", "1_000", "0b11", "0o7"];
const FLOATS: [&str; 10] = [
    "1.5",
    "1e10",
    "99999999999",
    ".5",
    "2147483648",
    "9223372036854775808",
    "1.",
    "1e-5",
    "0x1FFFFFFFF",
    "1e400",
];
const BITS: [&str; 3] = ["b'101'", "b''", "b'12z'"];
const HEXADECIMALS: [&str; 3] = ["x'1F'", "x''", "x'xyz'"];
const PARAMETERS: [&str; 4] = ["$1", "$2", "$0", "$2147483647"];
const OPERATORS: [&str; 24] = [
    "||", "~~", "!~~", "~~*", "!~~*", "~", "!~", "->", "->>", "@>", "&&", "@", "|/", "!", "#-", "?", "-|-",
    "~=", "<->", "*=", "=~", "@-", "!=-", "%%",
];

/// Makes sentences, by a seed.
pub(crate) struct Sentences {
    grammar: Grammar,
    names: Vec<&'static str>,
    file: Arc<str>,
    made: u32,
    random: Random,
}

impl Sentences {
    pub(crate) fn new(seed: u64) -> Self {
        // The words are leaked: they live as long as the tests.
        let quoted = keywords().iter().map(|keyword| &*format!("\"{}\"", keyword.name).leak());
        // These words are chosen as often as keywords.
        let plain = NAMES.iter().cycle().take(keywords().len()).copied();
        Self {
            grammar: Grammar::read(&corpus::source("src/backend/parser/gram.y")),
            names: plain.chain(quoted).collect(),
            file: Arc::from(format!("seed {seed}")),
            made: 0,
            random: Random::new(seed),
        }
    }

    /// The next sentence. Its line is its number.
    pub(crate) fn statement(&mut self) -> Statement {
        self.made += 1;
        let sql = match self.random.below(2) {
            0 => self.sentence("stmt"),
            _ => match self.random.pick(&STARTS) {
                "a_expr" => format!("select {}", self.sentence("a_expr")),
                start => self.sentence(start),
            },
        };
        Statement { file: Arc::clone(&self.file), line: self.made, sql }
    }

    fn sentence(&mut self, start: &str) -> String {
        let mut sentence = String::new();
        let mut left = self.random.below(TOKENS);
        let mut open = vec![self.grammar.rule(start)];
        while let Some(symbol) = open.pop() {
            let text = match symbol {
                Symbol::Rule(rule) => {
                    let at = self.alternative(rule, left);
                    open.extend(self.grammar.alternatives(rule)[at].symbols.iter().rev().copied());
                    continue;
                }
                Symbol::Text(text) => text,
                Symbol::Class(class) => self.token(class),
            };
            sentence.push_str(text);
            sentence.push(' ');
            left = left.saturating_sub(1);
        }
        sentence
    }

    /// An alternative that needs at most `left` tokens, or else the shortest one.
    fn alternative(&mut self, rule: usize, left: usize) -> usize {
        let alternatives = self.grammar.alternatives(rule);
        let shortest = alternatives.iter().map(|one| one.tokens_min).min().unwrap_or(0);
        let fitting: Vec<usize> =
            (0..alternatives.len()).filter(|at| alternatives[*at].tokens_min <= left.max(shortest)).collect();
        self.random.pick(&fitting)
    }

    fn token(&mut self, class: &'static str) -> &'static str {
        match class {
            "IDENT" => self.random.pick(&self.names),
            "SCONST" => self.random.pick(&STRINGS),
            "ICONST" => self.random.pick(&INTEGERS),
            "FCONST" => self.random.pick(&FLOATS),
            "Op" => self.random.pick(&OPERATORS),
            "BCONST" => self.random.pick(&BITS),
            "XCONST" => self.random.pick(&HEXADECIMALS),
            "PARAM" => self.random.pick(&PARAMETERS),
            // A keyword of another version's grammar, which is not valid here.
            other => other,
        }
    }
}
