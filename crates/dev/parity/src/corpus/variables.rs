//! psql's variables and the arguments of its backslash commands.

use std::collections::HashMap;

/// The variables that psql sets before a script runs and that the scripts use.
const PREDEFINED: [(&str, &str); 5] = [
    ("DBNAME", "regression"),
    ("USER", "postgres"),
    ("ENCODING", "UTF8"),
    ("SERVER_VERSION_NUM", "180006"),
    ("LAST_ERROR_MESSAGE", ""),
];

/// The variables of one script.
#[derive(Debug)]
pub(super) struct Variables {
    values: HashMap<String, String>,
    /// Whether a `\gset` came: then an unknown name may have a value from the server.
    fetched: bool,
}

/// The value of `:name`.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning<'a> {
    /// A known text.
    Value(&'a str),
    /// A value that only the server knows.
    Unknown,
    /// No variable: psql sends the colon and the name unchanged.
    Text,
}

impl Variables {
    pub(super) fn new() -> Self {
        let values = PREDEFINED.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
        Self { values: values.collect(), fetched: false }
    }

    pub(super) fn meaning(&self, name: &str) -> Meaning<'_> {
        match self.values.get(name) {
            Some(value) => Meaning::Value(value),
            None if self.fetched => Meaning::Unknown,
            None => Meaning::Text,
        }
    }

    /// Applies a backslash command to the variables.
    pub(super) fn apply(&mut self, command: &str, arguments: &[String]) {
        match (command, arguments) {
            ("set", [name, values @ ..]) => {
                self.values.insert(name.clone(), values.concat());
            }
            // In all scripts, the variables of the environment are folders.
            ("getenv", [name, _]) => {
                self.values.insert(name.clone(), "/source".to_owned());
            }
            ("unset", [name]) => {
                self.values.remove(name);
            }
            ("gset", _) => self.fetched = true,
            _ => {}
        }
    }
}

/// The variable name at the beginning of `text`: letters, digits, underscores and all characters beyond ASCII.
pub(super) fn name(text: &str) -> &str {
    let end =
        text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii())).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// The arguments of a backslash command, and how many bytes they take. They end at the end of the line or before the backslash of
/// another command.
pub(super) fn arguments(text: &str, variables: &Variables) -> (Vec<String>, usize) {
    let mut arguments = Vec::new();
    let mut current: Option<String> = None;
    let mut characters = text.char_indices();
    let mut end = text.len();
    while let Some((at, character)) = characters.next() {
        match character {
            '\n' | '\\' => {
                end = at;
                break;
            }
            '\'' => {
                let argument = current.get_or_insert_default();
                quoted(&mut characters, argument);
            }
            // A shell command, which is not executed here.
            '`' => {
                current.get_or_insert_default();
                characters.find(|&(_, c)| c == '`');
            }
            '"' => {
                let argument = current.get_or_insert_default();
                argument.extend(characters.by_ref().map(|(_, c)| c).take_while(|&c| c != '"'));
            }
            ':' => {
                let argument = current.get_or_insert_default();
                let name = name(characters.as_str());
                match variables.meaning(name) {
                    Meaning::Value(value) => argument.push_str(value),
                    Meaning::Unknown | Meaning::Text => argument.push_str(name),
                }
                let after = characters.as_str().get(name.len()..).unwrap_or_default();
                while characters.as_str().len() > after.len() {
                    characters.next();
                }
            }
            _ if character.is_whitespace() => arguments.extend(current.take()),
            _ => current.get_or_insert_default().push(character),
        }
    }
    arguments.extend(current);
    (arguments, end)
}

/// Reads the rest of a string in single quotes after its first quote. Backslashes escape, and two quotes are one.
fn quoted(characters: &mut std::str::CharIndices<'_>, argument: &mut String) {
    while let Some((_, character)) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some((_, 'n')) => argument.push('\n'),
                Some((_, 't')) => argument.push('\t'),
                Some((_, other)) => argument.push(other),
                None => return,
            },
            '\'' if characters.as_str().starts_with('\'') => {
                characters.next();
                argument.push('\'');
            }
            '\'' => return,
            _ => argument.push(character),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Meaning, Variables, arguments};

    #[test]
    fn arguments_end_at_the_line_or_at_a_command() {
        let mut variables = Variables::new();
        variables.apply("set", &["dir".to_owned(), "/a".to_owned()]);
        let (found, end) = arguments(" file :dir '/it''s \\'b\\n' \"C c\" \\g\nselect", &variables);
        assert_eq!(found, ["file", "/a", "/it's 'b\n", "C c"]);
        assert_eq!(end, 32);
        assert_eq!(arguments(" x\nselect", &variables).1, 2);
    }

    #[test]
    fn names_are_text_until_a_server_may_have_set_them() {
        let mut variables = Variables::new();
        assert_eq!(variables.meaning("a"), Meaning::Text);
        variables.apply("gset", &[]);
        assert_eq!(variables.meaning("a"), Meaning::Unknown);
        variables.apply("set", &["a".to_owned(), "1".to_owned(), "2".to_owned()]);
        assert_eq!(variables.meaning("a"), Meaning::Value("12"));
    }
}
