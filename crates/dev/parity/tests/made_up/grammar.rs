//! The rules of PostgreSQL's grammar, read from its `gram.y`.

use std::collections::HashMap;

use trunkline_parser::lexer::{Keyword, keywords};

/// A symbol in an alternative of a rule.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Symbol {
    /// A rule, by its number.
    Rule(usize),
    /// A token with one fixed text.
    Text(&'static str),
    /// A token with many possible texts, by its name in the grammar.
    Class(&'static str),
}

/// One way to write a rule.
#[derive(Debug)]
pub(crate) struct Alternative {
    pub(crate) symbols: Vec<Symbol>,
    /// The fewest tokens of a sentence that it makes.
    pub(crate) tokens_min: usize,
}

/// A number larger than the tokens that any rule needs.
const UNKNOWN: usize = usize::MAX / 1024;

pub(crate) struct Grammar {
    numbers: HashMap<&'static str, usize>,
    rules: Vec<Vec<Alternative>>,
}

impl Grammar {
    pub(crate) fn read(gram_y: &str) -> Self {
        // The words are leaked: they live as long as the tests.
        let tokens: Vec<&'static str> = tokens(&between_marks(gram_y).to_owned().leak()[..]);
        let names: Vec<&'static str> =
            tokens.windows(2).filter(|pair| pair[1] == ":").map(|pair| pair[0]).collect();
        let numbers: HashMap<_, _> = names.iter().enumerate().map(|(number, name)| (*name, number)).collect();
        let words: HashMap<&str, &'static Keyword> =
            keywords().iter().map(|keyword| (keyword.token, keyword)).collect();
        let mut rules: Vec<Vec<Alternative>> = Vec::new();
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            if tokens.next_if_eq(&":").is_some() {
                rules.push(vec![Alternative { symbols: Vec::new(), tokens_min: UNKNOWN }]);
                continue;
            }
            let rule = rules.last_mut().expect("a rule begins with its name");
            match token {
                ";" => {}
                "|" => rule.push(Alternative { symbols: Vec::new(), tokens_min: UNKNOWN }),
                "%prec" => drop(tokens.next()),
                "%empty" => {}
                name => {
                    let symbol = match numbers.get(name) {
                        Some(number) => Symbol::Rule(*number),
                        None => terminal(name, &words),
                    };
                    rule.last_mut().expect("a rule has an alternative").symbols.push(symbol);
                }
            }
        }
        let mut grammar = Self { numbers, rules };
        grammar.measure();
        grammar
    }

    /// The rule with this name.
    pub(crate) fn rule(&self, name: &str) -> Symbol {
        Symbol::Rule(*self.numbers.get(name).unwrap_or_else(|| panic!("the grammar has no rule {name}")))
    }

    pub(crate) fn alternatives(&self, rule: usize) -> &[Alternative] {
        &self.rules[rule]
    }

    /// Computes the fewest tokens of each alternative, again and again until no number becomes smaller.
    fn measure(&mut self) {
        let mut rules = vec![UNKNOWN; self.rules.len()];
        loop {
            let before = rules.clone();
            for (rule, alternatives) in self.rules.iter_mut().enumerate() {
                for alternative in alternatives {
                    let tokens = alternative.symbols.iter().map(|symbol| match symbol {
                        Symbol::Rule(number) => rules[*number],
                        _ => 1,
                    });
                    alternative.tokens_min = tokens.sum::<usize>().min(UNKNOWN);
                    rules[rule] = rules[rule].min(alternative.tokens_min);
                }
            }
            if before == rules {
                return;
            }
        }
    }
}

fn terminal(name: &'static str, words: &HashMap<&str, &'static Keyword>) -> Symbol {
    if let Some(character) = name.strip_prefix('\'') {
        return Symbol::Text(&character[..character.len() - 1]);
    }
    // Tokens that the grammar distinguishes by the word after them.
    let word = name.strip_suffix("_LA").unwrap_or(name);
    let word = words.get(word).or_else(|| words.get(format!("{word}_P").as_str()));
    match (word, name) {
        (Some(keyword), _) => Symbol::Text(keyword.name),
        (None, "TYPECAST") => Symbol::Text("::"),
        (None, "DOT_DOT") => Symbol::Text(".."),
        (None, "COLON_EQUALS") => Symbol::Text(":="),
        (None, "EQUALS_GREATER") => Symbol::Text("=>"),
        (None, "LESS_EQUALS") => Symbol::Text("<="),
        (None, "GREATER_EQUALS") => Symbol::Text(">="),
        (None, "NOT_EQUALS") => Symbol::Text("<>"),
        (None, class) => Symbol::Class(class),
    }
}

/// The part of a bison file with the rules.
fn between_marks(gram_y: &str) -> &str {
    gram_y.split("\n%%").nth(1).expect("gram.y has its rules between lines of %%")
}

/// The words and marks of the rules, without comments and actions.
fn tokens(rules: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = rules.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '/' => {
                rest = after(rest, "*/").trim_start();
                continue;
            }
            '{' => {
                rest = rest[action_length(rest)..].trim_start();
                continue;
            }
            '\'' => 2 + rest[1..].find('\'').expect("a character has a second quote"),
            '%' | '_' | 'a'..='z' | 'A'..='Z' => {
                let is_inside = |character: char| character.is_ascii_alphanumeric() || character == '_';
                rest[1..].find(|character| !is_inside(character)).map_or(rest.len(), |length| 1 + length)
            }
            _ => first.len_utf8(),
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    tokens
}

fn after<'a>(text: &'a str, end: &str) -> &'a str {
    text.split_once(end).map_or("", |(_, after)| after)
}

/// The length of the C block at the beginning of a text.
fn action_length(text: &str) -> usize {
    let mut depth = 0;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        rest = match first {
            '/' if rest.starts_with("/*") => after(rest, "*/"),
            '"' | '\'' => after_literal(rest, first),
            _ => &rest[first.len_utf8()..],
        };
        match first {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    text.len() - rest.len()
}

fn after_literal(text: &str, quote: char) -> &str {
    let mut characters = text.char_indices().skip(1);
    while let Some((place, character)) = characters.next() {
        match character {
            '\\' => drop(characters.next()),
            _ if character == quote => return &text[place + 1..],
            _ => {}
        }
    }
    ""
}
