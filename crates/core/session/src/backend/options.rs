//! The start-up parameter `options`: command-line switches for the server process.

/// Why `options` is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum OptionsError {
    /// A switch other than `-c` and `--name=value`, which set a parameter.
    #[error("the start-up option \"{0}\" is not supported: only -c name=value and --name=value are")]
    UnknownSwitch(String),
    /// Nothing follows `-c`.
    #[error("the start-up option -c needs name=value after it")]
    NoAssignment,
    /// The assignment has no `=`.
    #[error("the start-up option \"{0}\" has no value: write name=value")]
    NoValue(String),
    /// The assignment has nothing before the `=`.
    #[error("the start-up option \"{0}\" has no name: write name=value")]
    NoName(String),
}

/// The parameters that `options` sets with `-c name=value` and `--name=value`, in order.
///
/// White space separates words. The character after a backslash has no special meaning. In names, `-` means `_`.
pub(super) fn parse(options: &str) -> Result<Vec<(String, String)>, OptionsError> {
    let mut parameters = Vec::new();
    let mut words = split(options).into_iter();
    while let Some(word) = words.next() {
        let assignment = if word == "-c" {
            words.next().ok_or(OptionsError::NoAssignment)?
        } else if let Some(assignment) = word.strip_prefix("--").or_else(|| word.strip_prefix("-c")) {
            assignment.to_owned()
        } else {
            return Err(OptionsError::UnknownSwitch(word));
        };
        match assignment.split_once('=') {
            None => return Err(OptionsError::NoValue(shown_text(&assignment, &word))),
            Some(("", _)) => return Err(OptionsError::NoName(shown_text(&assignment, &word))),
            Some((name, value)) => parameters.push((name.replace('-', "_"), value.to_owned())),
        }
    }
    Ok(parameters)
}

/// The text that an error shows of a switch: its assignment, or the switch itself if the assignment is empty.
fn shown_text(assignment: &str, word: &str) -> String {
    if assignment.is_empty() { word.to_owned() } else { assignment.to_owned() }
}

fn split(options: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = options.chars();
    while let Some(character) = characters.next() {
        if character.is_ascii_whitespace() {
            words.extend(word.take());
            continue;
        }
        let word = word.get_or_insert_default();
        // As in PostgreSQL, a backslash at the end of the text is ignored.
        let taken = if character == '\\' { characters.next() } else { Some(character) };
        word.extend(taken);
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(options: &str) -> Vec<(String, String)> {
        parse(options).expect("well formed")
    }

    #[test]
    fn both_spellings_are_read_in_order() {
        let expected = [("work_mem", "4MB"), ("search_path", "a,b"), ("geqo", "off"), ("x.y", "a=b")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(pairs("-c work_mem=4MB --search-path=a,b  -cgeqo=off\t-c x.y=a=b "), expected);
        assert!(pairs("").is_empty() && pairs("  \n").is_empty());
    }

    #[test]
    fn a_backslash_escapes_white_space_and_backslashes() {
        assert_eq!(pairs(r"-c search_path=a,\ b\\c"), [("search_path".to_owned(), r"a, b\c".to_owned())]);
        assert_eq!(pairs(r"-c a=\"), [("a".to_owned(), String::new())]);
    }

    #[test]
    fn malformed_options_are_refused_with_a_reason() {
        let cases = [
            ("-B 100", OptionsError::UnknownSwitch("-B".to_owned())),
            ("work_mem=1", OptionsError::UnknownSwitch("work_mem=1".to_owned())),
            ("-c", OptionsError::NoAssignment),
            ("-c work_mem", OptionsError::NoValue("work_mem".to_owned())),
            ("--", OptionsError::NoValue("--".to_owned())),
            ("-c =1", OptionsError::NoName("=1".to_owned())),
        ];
        for (options, expected) in cases {
            assert_eq!(parse(options), Err(expected), "{options}");
        }
    }
}
